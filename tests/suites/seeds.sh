#!/bin/sh
# seeds.sh SOURCE BIN FOLDER: the pages of bench-suites/papers/seeds from a copy of the suites in FOLDER. Fails where a command is
# dead, a figure is missing or a verdict is not what the figures say, and where a committed page lacks a row of its data.
set -eu
source=$1 bin=$2 folder=$3
mkdir -p "$folder"
tar -C "$source" --exclude=results -cf - bench-suites devdb | tar -C "$folder" -xf -
make -s -C "$folder/bench-suites/papers/seeds" BIN="$bin" all
# Wrong rows are refused, each for its own reason.
failed=0
refused() {
  printf 'item,says,paper,unit,within,command,here,verdict,why\n%s\n' "$1" >"$folder/wrong.csv"
  echo >"$folder/wrong.head.md"
  if (cd "$folder/bench-suites/papers" && PATH=$bin:$PATH seeds/page.sh "$folder/wrong.csv") >/dev/null 2>"$folder/wrong.txt" ||
    ! grep -q "$2" "$folder/wrong.txt"; then
    echo "not refused, or not for '$2': $1" >&2
    failed=1
  fi
}
refused 'a,b,2,,0.1,echo 3,,redone,' 'the verdict is redone'
refused 'a,b,2,,0.1,echo 2,,deviates,because' 'the verdict is deviates'
refused 'a,b,x,,=,echo y,,redone,' 'the verdict is redone'
refused 'a,b,,,,no_such_program,,redone,' 'failed: no_such_program'
refused 'a,b,,,,make -C panwar no_such_target,echo 1,redone,' 'dead command'
refused 'a,b,,,,no_such_program FILE,echo 1,redone,' 'dead command'
refused 'a,b,,,,akemu --no-such-option FILE,echo 1,redone,' 'dead command'
refused 'a,b,,,,mangrove no-such-word,echo 1,redone,' 'dead command'
refused 'a,b,,,,true,,redone,' 'no figure'
refused 'a,b,,,,,,redone,' 'without a command'
refused 'a,b,,,,echo 1,,deviates,' 'no reason'
refused 'a,b,,,,echo 1,,fine,' 'unknown verdict'
for page in "$folder"/bench-suites/papers/seeds/results/*.md; do
  grep '^| ' "$page" | cut -d'|' -f 2,3 >"$page.rows"
  grep '^| ' "$source/bench-suites/papers/seeds/${page##*/}" | cut -d'|' -f 2,3 | cmp -s - "$page.rows" || {
    echo "bench-suites/papers/seeds/${page##*/} has other rows than its data: make -C bench-suites/papers/seeds readme" >&2
    failed=1
  }
done
exit $failed
