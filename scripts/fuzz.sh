#!/bin/sh
# Runs each fuzz target for a while: scripts/fuzz.sh BUILD SECONDS. A crash stops it; the input is kept in the build folder.
set -eu
build=$1 seconds=$2
cd "$build/tests/fuzz"
for target in runfile request suite lines records text; do
  mkdir -p "corpus-$target"
  [ "$target" = runfile ] && cp "$OLDPWD"/tests/report/*.jsonl corpus-runfile/ 2>/dev/null || true
  [ "$target" = suite ] && cp "$OLDPWD"/suites/*.ini corpus-suite/
  echo "fuzz $target for $seconds s"
  "./fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -max_len=65536 -verbosity=0 -print_final_stats=1 \
    "corpus-$target" 2>&1 | grep -E 'number_of_executed|ERROR|SUMMARY|Test unit' || true
  for found in crash-* timeout-* oom-* leak-*; do
    [ ! -e "$found" ] || { echo "fuzz $target failed: $build/tests/fuzz/$found" >&2; exit 1; }
  done
done
