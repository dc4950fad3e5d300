weir report $CASES/run.jsonl --format json | python3 -c "import json,sys; d=json.load(sys.stdin); print(sorted(d)); print([c['id'] for c in d['groups'][0]['cells']])"
