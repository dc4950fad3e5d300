weir report $CASES/run.jsonl -o a.jsonl -o a.txt > b.txt
cmp $CASES/run.jsonl a.jsonl
weir report a.jsonl | cmp - b.txt
cmp a.txt b.txt
rm a.jsonl a.txt b.txt
