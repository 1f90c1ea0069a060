#!/bin/sh
# What a budget has no place for is reported; what it has place for is counted; what is known needs little of it. The shares
# are far from what decides, as the application compiles the same kernels as the advice: on a slower or busier machine
# both take longer. How a share is kept is tested in unit/advise.
. "$(dirname "$0")/common.sh"
rows() { column "$folder/$1.csv" "$2" | sort | uniq -c | tr -s ' '; }
# Processor time of all advice, in milliseconds.
cost_ms() { column "$folder/$1.csv" advice_cpu_s | awk '{ sum += $1 } END { printf "%.3f", 1e3 * sum }'; }

# A thousandth of the run time: no compiler ends within that, unless it runs a hundred times faster than the application's.
advise --no-cache --budget 0.1 -o "$folder/none.csv" -- "$application" 2 12 1 >/dev/null || [ $? = 3 ]
[ "$(rows none status)" = " 12 over_budget" ] || { cat "$folder/none.csv"; fail "some fit into nothing"; }
grep -q "the budget left no time for it" "$folder/none.csv" || { cat "$folder/none.csv"; fail "why?"; }
advise --no-cache --budget 0.1 -- "$application" 0.2 12 1 >/dev/null 2>"$folder/words" || [ $? = 3 ]
grep -q "the budget left no time for it" "$folder/words" || { cat "$folder/words"; fail "no message"; }
grep 'advice took .*, [0-9.]* % of ' "$folder/words" || { cat "$folder/words"; fail "what it took is not reported"; }

# A hundred times the run time.
advise --budget 10000 -o "$folder/all.csv" -- "$application" 0.2 12 1 >/dev/null || [ $? = 3 ]
[ "$(rows all source)" = " 12 emulated" ] || { cat "$folder/all.csv"; fail "not all fit into everything"; }

# Known by now. The application runs until all have their advice.
advise --budget 3 -o "$folder/known.csv" -- "$application" "$folder/enough" 12 1 >/dev/null &
until [ "$(cat "$folder/known.csv" 2>/dev/null | wc -l)" -gt 12 ]; do
  kill -0 $! || fail "it ended before all were advised on"
  sleep 0.05
done
touch "$folder/enough"
wait $! || [ $? = 3 ]
[ "$(rows known source)" = " 12 cache" ] || { cat "$folder/known.csv"; fail "what is known was counted anew"; }
echo "processor time: $(cost_ms all) ms emulated, $(cost_ms known) ms known"
awk -v known="$(cost_ms known)" -v all="$(cost_ms all)" 'BEGIN { exit known > 0 && known < all / 4 ? 0 : 1 }' ||
  fail "what is known costs as much as before"
