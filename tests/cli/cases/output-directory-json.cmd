mkdir d.json
weir bench -o d.json
code=$?
rmdir d.json
exit $code
