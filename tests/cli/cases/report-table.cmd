weir report $CASES/run.jsonl | head -3
