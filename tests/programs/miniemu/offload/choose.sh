#!/bin/sh
# Usage: choose.sh PROGRAMS MINIEMU KERNELCAST: the answer about a stencil in Fortran, by OpenMP and by OpenACC: regions by
# function and line, and copies, which are in the order of the program.
set -eu
. "$(dirname "$0")/start.sh"
line_of() { grep -n "region $2\$" "$1" | cut -d: -f1; }
for model in openmp openacc; do
  source=$programs/heat_$model.f90
  compile $model "$folder/app" "$source" || { echo "kernelcast-skipped: $why"; exit 0; }
  "$kernelcast" choose --devices a100,h100,l40 --no-registers --budget 1000000000000 --files "$folder/made" --html "$folder/page.html" -- "$folder/app" >"$folder/out" \
    2>"$folder/err" || fail "status $?"
  head -1 "$folder/out" | grep -q ' launches, 100 % of them counted; .* copied; ' || fail "what was seen"
  grep -q '^fastest: [ahl][14]0*, ' "$folder/out" || fail "the fastest device"
  step=step
  [ $model = openacc ] || step=heat::step
  name="$step:$(line_of "$source" $step)"
  grep -q "^largest kernels on .* $name (" "$folder/out" || fail "no $name among the largest kernels"
  grep -qF "<code>$(sed -n "${name##*:}p" "$source" | sed 's/^ *//')</code>" "$folder/page.html" || fail "the page lacks the line of $name"
  # Twelve steps, and the sum.
  [ "$(grep -cF "$name" "$folder/made/commands.csv")" = 12 ] || fail "not twelve launches of $name among the commands"
  grep -qF "main program:$(line_of "$source" "main program")" "$folder/made/commands.csv" || fail "the sum is missing"
  # The peak's field is 32768 bytes, copied to the device and back.
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) { if ($i == "bytes") b = i; if ($i == "command") c = i } next }
           $b == 32768 { ++n[$c] } END { exit !(length(n) >= 2) }' "$folder/made/commands.csv" || fail "copies are missing"
done
