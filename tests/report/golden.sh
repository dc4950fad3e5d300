#!/bin/sh
# golden.sh TOOL [--update|--locale] - the reports of golden.jsonl are, byte for byte, those that are stored beside it.
# --update stores what comes out now; look at the difference before you commit it. --locale checks that a locale with
# decimal commas changes nothing.
set -eu
tool=$1 mode=${2:-} here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

# name of the stored file: what to run
reports='golden-60.txt:table 60
golden-80.txt:table 80
golden-100.txt:table 100
golden-140.txt:table 140
golden-whole.txt:table 0
golden-color.txt:table 100 color
golden-ascii.txt:table 100 ascii
golden.json:json
golden.md:markdown'

all_into() { # DIRECTORY
  echo "$reports" | while IFS=: read -r name words; do
    # shellcheck disable=SC2086 # the words are meant to be split
    "$tool" "$here/golden.jsonl" $words >"$1/$name"
  done
}

compare() { # DIRECTORY WHAT
  for file in "$here"/golden*.txt "$here/golden.json" "$here/golden.md"; do
    cmp "$file" "$1/$(basename "$file")" || { echo "$2: $(basename "$file") differs"; bad=1; }
    diff "$file" "$1/$(basename "$file")" | head -20
  done
}

mkdir "$scratch/first" "$scratch/second"
if [ "$mode" = --update ]; then
  all_into "$here"
  exit
fi
if [ "$mode" = --locale ]; then
  command -v localedef >/dev/null || { echo "skipped: no localedef to make de_DE.UTF-8 with"; exit 77; }
  localedef -i de_DE -f UTF-8 "$scratch/de_DE.UTF-8" 2>/dev/null || { echo "skipped: de_DE.UTF-8 cannot be made"; exit 77; }
  export LOCPATH="$scratch" LC_ALL=de_DE.UTF-8
  [ "$(locale decimal_point)" = , ] || { echo "skipped: de_DE.UTF-8 has no decimal comma here"; exit 77; }
  all_into "$scratch/first"
  compare "$scratch/first" "with LC_ALL=de_DE.UTF-8"
  exit $bad
fi
all_into "$scratch/first"
all_into "$scratch/second"
compare "$scratch/first" "first time"
compare "$scratch/second" "second time"
python3 -m json.tool "$here/golden.json" >/dev/null || bad=1
exit $bad
