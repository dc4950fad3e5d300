weir report --color always $CASES/run.jsonl | grep -c "$(printf '\033')"
NO_COLOR=1 CLICOLOR_FORCE=1 weir report $CASES/run.jsonl | grep -c "$(printf '\033')"
CLICOLOR_FORCE=1 weir report $CASES/run.jsonl | grep -q "$(printf '\033')" && echo forced
