#!/bin/sh
# Usage: driver.sh MINIEMU APPLICATION LAUNCH_FILE: an application of the driver's interface, all of its checks, and the
# row of one kernel beside that of the same launch from a file.
set -eu
miniemu=$1 app=$2 launch=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
fail() { echo "$1"; cat "$folder/out" "$folder/err"; exit 1; }
status=0
"$miniemu" --attach --no-registers -o "$folder/rows.csv" -- "$app" >"$folder/out" 2>"$folder/err" || status=$?
[ $status = 7 ] && [ "$(tail -n 1 "$folder/out")" = "0 failures" ] || fail "status $status"
grep -q "cuIpcGetMemHandle is not supported on the emulator" "$folder/err" || fail "an unsupported call is not named"
grep -q "kernel 'stop', line [0-9]* of its PTX: trap" "$folder/err" || fail "the fault is not named"

"$miniemu" --attach --no-registers --groups all -o "$folder/rows.csv" -- "$app" "$(dirname "$launch")/scale.ptx" >"$folder/out" 2>"$folder/err" || status=$?
[ $status = 7 ] || fail "scale: status $status"
"$miniemu" --no-registers --groups all "$launch" >"$folder/file.csv"
# All columns but those of what only an application has, and of the launches' number.
awk -F, '
  NR == 1 { for (i = 1; i <= NF; ++i) name[i] = $i; next }
  FNR == 1 { next }
  NR == FNR { for (i = 1; i <= NF; ++i) first[i] = $i; next }
  {
    for (i = 1; i <= NF; ++i) {
      if (name[i] ~ /^(case|allocated_bytes|touched_before|code_fetched|source_line|source_text|launches)$/) continue
      five = first[i] == 5 * $i
      if (first[i] != $i && !five) { print name[i] ": " first[i] ", in a file " $i; bad = 1 }
      equal += first[i] == $i; times += five
    }
    exit bad || equal < 50 || times < 50
  }' "$folder/rows.csv" "$folder/file.csv" || fail "other rows"
# What --execute needed leaves out is never missed; and it leaves out: the budget lasts for a change after 99 repeats.
for seed in 1 2 3 4 5 6; do
  status=0
  "$miniemu" --attach --no-registers -o "$folder/rows.csv" -- "$app" random $seed >"$folder/out" 2>"$folder/err" || status=$?
  [ $status = 7 ] || fail "random calls, seed $seed: status $status"
done
for execute in needed all; do
  "$miniemu" --attach --no-registers --budget 60 --execute $execute -o "$folder/rows.csv" -- "$app" hundred >"$folder/out" 2>"$folder/err" || true
  [ "$(cat "$folder/out")" = $([ $execute = needed ] && echo 7 || echo 3) ] || fail "--execute $execute: another result"
  [ "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "launches") at = i } NR == 2 { print $at }' "$folder/rows.csv")" = 200 ] ||
    fail "not 200 launches"
done
for execute in needed all; do
  "$miniemu" --attach --no-registers --budget 60 --execute $execute -o "$folder/rows.csv" -- "$app" results >"$folder/out" 2>"$folder/err" || true
  [ "$(tr '\n' ' ' <"$folder/out")" = "$([ $execute = needed ] && echo '3 3 7 7 ' || echo '3 0 0 0 ')" ] || fail "--execute $execute: other results"
done
# What waits for what.
status=0
"$miniemu" --attach --no-registers --summary --commands "$folder/commands.csv" -o "$folder/rows.csv" -- "$app" ordered >"$folder/out" 2>"$folder/err" || status=$?
[ $status = 7 ] || fail "ordered: status $status"
cut -d, -f2-5,8,9 "$folder/commands.csv" | tail -n +2 >"$folder/order"
cat >"$folder/expected" <<END
1,h2d,3,,4000,no
2,kernel,3,1,0,no
3,h2d,4,,4000,yes
4,kernel,4,2;3,0,no
5,kernel,5,,0,no
6,fill,0,2;4,4000,no
7,d2h,3,6,4000,no
8,wait,3,7,0,yes
9,kernel,3,7,0,no
10,kernel,3,9,0,no
11,kernel,3,9,0,no
12,kernel,3,10;11,0,no
13,d2h,0,6;12,4,yes
14,wait,,5;13,0,yes
15,kernel,5,5,0,no
16,kernel,3,13;15,0,no
17,kernel,5,15,0,no
END
diff "$folder/expected" "$folder/order" || fail "another order"
grep -q 'launches *10, of which [1-9] ran' "$folder/err" && grep -q 'device memory *1.05 MB at most' "$folder/err" && grep -q 'copies *2 to the device (8 kB), 2 to the host (4 kB), 1 filled (4 kB)' "$folder/err" || fail "no summary"
for wrong in 60m 0 s -3 1e400s; do
  status=0
  "$miniemu" --attach --budget $wrong -o "$folder/rows.csv" -- "$app" hundred >"$folder/out" 2>"$folder/err" || status=$?
  [ $status = 2 ] && grep -q "hint: --budget 1000000000 or --budget 60s" "$folder/err" || fail "--budget $wrong: status $status"
done
echo "rows equal to those of a launch file"
