echo 1 > a
weir plan a --cache cold -m fd/read
rm a
