echo 1 > a
weir bench a a
code=$?
rm a
exit $code
