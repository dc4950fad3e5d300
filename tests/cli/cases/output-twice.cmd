mkdir b
weir report "$CASES/run.jsonl" -o b/a.json -o ./b/a.json
weir report "$CASES/run.jsonl" -o b/a.json -o b/b.json >/dev/null && rm b/*
ln -s a.json b/c.json
weir report "$CASES/run.jsonl" -o b/a.json -o b/c.json
code=$?
rm b/c.json
rmdir b
exit $code
