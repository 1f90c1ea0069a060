#!/bin/sh
# flux-count --attach: host threads that launch at the same time, on two devices, and cooperative launches.
. "$(dirname "$0")/attached.sh"
build threads -arch=sm_75 "$apps/threads.cu"
attach threads 0
! grep -q uncounted "$folder/threads.csv" || { grep uncounted "$folder/threads.csv"; exit 1; }
[ "$(launches threads)" = 48 ] || fail "not 48 launches"

# Thread t, round r: 100 (t + 1) + r lanes store, at most 512; threads 0 and 2 on device 0, 1 and 3 on device 1.
awk -F, 'NR == 1 { for (c = 1; c <= NF; ++c) at[$c] = c; next }
  $1 ~ /add/ && $4 == "st.global.u32" { print $at["device"], $5 }' "$folder/threads.csv" | sort >"$folder/got"
awk 'BEGIN { for (t = 0; t < 4; ++t) for (r = 0; r < 10; ++r) print t % 2, 100 * (t + 1) + r }' | sort >"$folder/expected"
diff "$folder/expected" "$folder/got"
# Two cooperative launches of each thread: 64 work-items, whatever the barrier's own code does.
[ "$(awk -F, '$1 ~ /fold/ && $4 == "st.global.u32" && $5 == 64' "$folder/threads.csv" | wc -l)" = 8 ] ||
  { grep fold "$folder/threads.csv"; exit 1; }
echo "48 launches of four threads on two devices are counted"
