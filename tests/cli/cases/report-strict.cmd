weir report --strict $CASES/run.jsonl > /dev/null
