echo 1 > a
weir bench --direction write a
code=$?
rm a
exit $code
