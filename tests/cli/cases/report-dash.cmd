weir report $CASES/run.jsonl -o - > a
head -c 1 a
rm a
