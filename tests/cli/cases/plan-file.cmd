head -c 100000 /dev/zero > a
weir plan a -m fd/read -m stdio/fread
rm a
