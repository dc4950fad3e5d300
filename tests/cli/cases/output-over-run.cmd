cp "$CASES/run.jsonl" .
weir report run.jsonl -o run.jsonl
weir report - -o ./run.jsonl <run.jsonl
code=$?
cmp run.jsonl "$CASES/run.jsonl"
rm run.jsonl
exit $code
