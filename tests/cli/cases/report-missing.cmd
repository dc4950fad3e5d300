weir report nothing.jsonl
