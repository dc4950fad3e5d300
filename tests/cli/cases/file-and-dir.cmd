echo 1 > a
weir bench --dir . a
code=$?
rm a
exit $code
