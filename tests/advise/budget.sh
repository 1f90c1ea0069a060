#!/bin/sh
# All that the advice takes stays within its share of the run time; what has no place in it is told; what is known costs
# so little that it has.
. "$(dirname "$0")/common.sh"
advise --no-cache --budget 3 -- "$application" 1.5 12 1 >/dev/null 2>"$folder/words" || [ $? = 3 ]
cat "$folder/words"
spent() { sed -n 's/.* advice took .*, \([0-9.]*\) % of .*/\1/p' "$1"; }
# Besides the share: one look of 20 ms, and one tick of the clocks of ended compilers.
awk -v spent="$(spent "$folder/words")" 'BEGIN { exit spent > 0 && spent <= 3 + 2 ? 0 : 1 }' || fail "beyond the budget"
grep -q "the budget left no time for it" "$folder/words" || fail "all of them within 45 ms?"
advise -o "$folder/a.csv" -- "$application" 0 12 1 >/dev/null || [ $? = 3 ]
advise --budget 3 -o "$folder/b.csv" -- "$application" 1.5 12 1 >/dev/null || [ $? = 3 ]
[ "$(column "$folder/b.csv" source | sort | uniq -c | tr -s ' ')" = " 12 cache" ] || { cat "$folder/b.csv"; fail "the known ones do not fit"; }
