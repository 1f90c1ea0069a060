#!/bin/sh
# The application's output and status are its own, and the projections are those of miniemu --attach and perfcast.
. "$(dirname "$0")/common.sh"
status=0; "$application" 0 3 2 >"$folder/plain" || status=$?
[ $status = 3 ] || fail "the application ends with $status"
status=0; advise --emit projection -o "$folder/p.csv" -- "$application" 0 3 2 >"$folder/advised" 2>"$folder/words" || status=$?
[ $status = 3 ] || fail "with advice it ends with $status"
cmp "$folder/plain" "$folder/advised"
[ ! -s "$folder/words" ] || { cat "$folder/words"; fail "messages on standard error"; }
"$programs/miniemu" --attach --no-registers -o "$folder/k.csv" -- "$application" 0 3 2 >/dev/null || [ $? = 3 ]
"$programs/perfcast" "$folder/k.csv" | sort >"$folder/expected"
sort "$folder/p.csv" | diff "$folder/expected" -
advise -o "$folder/a.csv" -- "$application" 0 3 2 >/dev/null || [ $? = 3 ]
[ "$(column "$folder/a.csv" kernel | sort | tr '\n' ' ')" = "step_0 step_1 step_2 " ] || fail "not each kernel once"
[ "$(column "$folder/a.csv" status | sort -u)" = ok ] || { cat "$folder/a.csv"; fail "not all advised"; }
# The best device of each row is the first of rank.
"$programs/rank" --quiet "$folder/p.csv" | awk -F, 'NR > 1 && $4 == 1 { print $2 "," $5 }' | sort >"$folder/ranked"
awk -F, 'NR > 1 { print $1 "," $3 }' "$folder/a.csv" | sort | while read -r row; do
  grep -qx "$row" "$folder/ranked" || fail "$row is not what rank says"
done
# The whole application: the sum over its kernels.
advise --emit total --device a100 -o "$folder/t.csv" -- "$application" 0 3 2 >/dev/null || [ $? = 3 ]
whole=$(column "$folder/t.csv" time_s)
grep ',a100,' "$folder/p.csv" | awk -F, -v whole="$whole" '{ sum += $5 } END { d = sum - whole; exit (d < 0 ? -d : d) < 1e-12 ? 0 : 1 }' ||
  fail "the total is $whole"
echo "$(wc -l <"$folder/expected") rows equal those of miniemu and perfcast"
