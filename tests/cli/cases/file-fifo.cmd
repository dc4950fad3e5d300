mkfifo pipe
weir bench pipe
code=$?
rm pipe
exit $code
