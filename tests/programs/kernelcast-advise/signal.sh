#!/bin/sh
# An application that a signal ends: 128 + signal, and what it launched until then has its advice. One that the advice
# fails for runs to its end.
. "$(dirname "$0")/common.sh"
status=0; advise -o "$folder/a.csv" -- "$application" 0 3 1 15 >/dev/null || status=$?
[ $status = 143 ] || fail "ended with $status"
[ "$(column "$folder/a.csv" status | sort -u)" = ok ] || { cat "$folder/a.csv"; fail "no advice"; }
[ "$(column "$folder/a.csv" kernel | wc -l)" = 3 ] || { cat "$folder/a.csv"; fail "expected three launches"; }
status=0; advise -- /nonexistent/app 2>"$folder/words" || status=$?
[ $status = 4 ] || fail "a missing application gives $status"
status=0; advise -o /dev/full -- "$application" 0.2 3 1 >"$folder/out" 2>"$folder/words" || status=$?
[ $status = 4 ] || fail "a full disk gives $status"
grep -q "sum of the first group" "$folder/out" || fail "the application was left alone"
grep -q "No space left" "$folder/words" || { cat "$folder/words"; fail "why?"; }
