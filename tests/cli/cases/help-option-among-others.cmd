weir bench --cache cold --help --size 1 | head -1
