weir report --format tabel $CASES/run.jsonl
