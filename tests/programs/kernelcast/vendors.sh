#!/bin/sh
# Usage: vendors.sh KERNELCAST ADAPTS: an OpenCL application that launches as its device answers is run as a device of each
# vendor, and each device is projected from the rows of its vendor.
set -eu
kernelcast=$1 app=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
unset OCL_ICD_VENDORS OCL_ICD_FILENAMES
fail() { echo "$1"; cat "$folder"/out "$folder"/err; exit 1; }
choose() { "$kernelcast" choose --no-registers --files "$folder/made" "$@" >"$folder/out" 2>"$folder/err"; }
column() {  # FILE NAME: of the rows of `sum`, with runs_on before it
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i } $1 == "sum" { print $at["runs_on"] ":" $at[name] }' "$1"
}
devices=a100,h100,mi250x,rx6900xt,b580
echo 'a line' >"$folder/line"
choose --devices $devices -- "$app" <"$folder/line" || fail "status $?"
[ "$(wc -l <"$folder/out")" -le 10 ] || fail "more than ten lines"
grep -q "^run as a100, mi300x, a770; AMD's launches differ from NVIDIA's in sum; Intel's launches differ from NVIDIA's in sum$" \
  "$folder/out" || fail "how the runs differ"
[ "$(grep -c '^a line$' "$folder/err")" = 1 ] || fail "the output of the first run, and of no other"
[ "$(grep -c '^sum is right$' "$folder/err")" = 1 ] || fail "the output of the first run, and of no other"
# 4 groups for each of 108, 304 and 512 units, which are vector engines; wavefronts of 32, 64 and 64.
[ "$(column "$folder/made/kernels.csv" grid_x | tr '\n' ' ')" = 'NVIDIA:432 AMD:1216 Intel:2048 ' ] || fail "groups"
[ "$(column "$folder/made/kernels.csv" block_x | tr '\n' ' ')" = 'NVIDIA:128 AMD:256 Intel:256 ' ] || fail "work-items"
[ "$(grep -c '^ramp,' "$folder/made/kernels.csv")" = 1 ] || fail "what is equal has one row"
for device in a100 h100 mi250x rx6900xt b580; do
  [ "$(grep -c "^sum,[^,]*,$device," "$folder/made/projections.csv")" = 1 ] || fail "one projection of sum onto $device"
  grep -q "^queue,total,[^,]*,[0-9]*,$device," "$folder/made/ranking.csv" || fail "no rank of $device"
done
choose --devices a100,h100 -- "$app" </dev/null || fail "status $?"
! grep -q '^run as' "$folder/out" && ! grep -q 'run again' "$folder/err" || fail "one vendor needs one run"
choose --as h100 -- "$app" </dev/null || fail "status $?"
! grep -q '^run as' "$folder/out" || fail "the user has said as which device"
choose --devices $devices -- "$app" alike </dev/null || fail "status $?"
grep -q '^run as a100, mi300x, a770, with equal launches$' "$folder/out" || fail "equal launches"
[ "$(wc -l <"$folder/made/kernels.csv")" = 3 ] || fail "equal launches have one row each"
choose --devices $devices -- "$app" refuses Intel </dev/null || fail "status $?"
grep -q "^run as .*; as a770 it launched nothing (status 3): Intel's devices are left out$" "$folder/out" || fail "Intel"
! grep -q "^queue,total,[^,]*,[0-9]*,b580," "$folder/made/ranking.csv" || fail "a device without rows is ranked"
status=0
choose --devices $devices -- "$app" needs Micro </dev/null || status=$?
grep -q '^fastest: mi250x,\|^fastest: rx6900xt,' "$folder/out" || fail "a program for AMD's devices alone ($status)"
miniemu=$(dirname "$kernelcast")/miniemu
attach() { "$miniemu" --attach --as mi300x --no-registers -o "$folder/rows.csv" "$@" -- "$app" </dev/null >"$folder/out" 2>"$folder/err"; }
attach --machine-code gfx942 || fail "status $?"
head -1 "$folder/rows.csv" | tr , '\n' | grep -nx target | cut -d: -f1 >"$folder/at"
[ "$(cut -d, -f"$(cat "$folder/at")" "$folder/rows.csv" | tail -2 | uniq)" = gfx942 ] || fail "no counts of machine code"
attach || fail "status $?"
cp "$folder/rows.csv" "$folder/whole.csv"
! attach --budget 2000 || fail "the sum of launches that did not run is right"
grep -q 'a launch exceeds --budget' "$folder/err" && cmp "$folder/whole.csv" "$folder/rows.csv" || fail "--budget"
