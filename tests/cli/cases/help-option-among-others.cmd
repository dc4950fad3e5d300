weir bench --cache cold --help --size 1 | sed -n 1p
