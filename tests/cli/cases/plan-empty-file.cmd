: > a
weir plan a -m fd/read
rm a
