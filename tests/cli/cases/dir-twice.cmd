ln -s . again
weir bench -d . -d ./
weir bench -d . -d again
code=$?
rm again
exit $code
