echo x > a
weir bench --member . a
code=$?
rm a
exit $code
