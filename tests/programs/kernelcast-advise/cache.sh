#!/bin/sh
# What was counted in one run is known in the next, and says the same.
. "$(dirname "$0")/common.sh"
for run in first second; do
  advise -o "$folder/$run.csv" -- "$application" 0 4 2 >/dev/null || [ $? = 3 ]
done
[ "$(column "$folder/first.csv" source | sort -u)" = emulated ] || fail "the first run did not emulate"
[ "$(column "$folder/second.csv" source | sort -u)" = cache ] || fail "the second run counted anew"
for what in first second; do
  cut -d, -f1-12 "$folder/$what.csv" | sort >"$folder/$what"
done
diff "$folder/first" "$folder/second"
advise --no-cache -o "$folder/third.csv" -- "$application" 0 4 2 >/dev/null || [ $? = 3 ]
[ "$(column "$folder/third.csv" source | sort -u)" = emulated ] || fail "--no-cache took something from the cache"
awk -F, 'FNR > 1 { sum[FILENAME] += $15; n[FILENAME]++ } END { for (f in sum) printf "%s %.3f ms of processor time each\n", f, 1e3 * sum[f] / n[f] }' \
  "$folder/first.csv" "$folder/second.csv" | sed "s,$folder/,,"
