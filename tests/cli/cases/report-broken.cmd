echo "{" > a.jsonl
weir report a.jsonl
code=$?
rm a.jsonl
exit $code
