echo precious > a.json
ln -s a.json link.json
ln a.json hard.txt
weir bench a.json -o a.json
weir bench a.json -o link.json
weir bench a.json -o ./hard.txt
weir bench a.json --format json -o /dev/fd/7 7>>a.json
weir bench a.json >>a.json
code=$?
cat a.json
rm a.json link.json hard.txt
exit $code
