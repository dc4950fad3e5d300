mkdir a b
weir bench --member a --member b --exec 'cat {}' -m fd/pread
code=$?
rmdir a b
exit $code
