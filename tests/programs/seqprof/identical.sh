#!/bin/bash
# identical.sh BIN SUITE: each workload of bench-suites/automatch prints the same, to the last bit of its sum, whether
# it is measured or not.
set -eu
bin=$1 suite=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v clang-19 >/dev/null || { echo "kernelcast-skipped: no clang-19"; exit 0; }
while read -r kernel arguments; do
  clang-19 -O2 -ffp-contract=off -fno-math-errno "$suite/$kernel.c" -o "$work/plain" -lm
  "$work/plain" $arguments >"$work/expected"
  for options in '' '--sample 16' '--invocations' '--dependences all'; do
    "$bin/seqprof" --quiet --kernel "$kernel" $options "$suite/$kernel.c" -o "$work/p.csv" -- $arguments 2>"$work/got"
    cmp "$work/expected" "$work/got" || { echo "$kernel $options: another result"; exit 1; }
  done
  echo "$kernel $arguments: $(cat "$work/expected")"
done <<'LIST'
stencil 31 33 11 2
spmv 900 1
lud 70
lbm 10 11 9 1
hotspot 50 2
srad 50 1 32
lavamd 3 10
cutcp 5 6
minighost 16 2
LIST
