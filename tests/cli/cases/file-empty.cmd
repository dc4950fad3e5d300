: > a
weir plan a -m fd/read
weir bench a
code=$?
rm a
exit $code
