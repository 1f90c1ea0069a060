#!/bin/sh
# An application that a signal ends: 128 + signal, and what it launched until then has its advice.
. "$(dirname "$0")/common.sh"
status=0; advise -o "$folder/a.csv" -- "$application" 0 3 1 15 >/dev/null || status=$?
[ $status = 143 ] || fail "ended with $status"
[ "$(column "$folder/a.csv" status | sort -u)" = ok ] || { cat "$folder/a.csv"; fail "no advice"; }
[ "$(column "$folder/a.csv" kernel | wc -l)" = 3 ] || { cat "$folder/a.csv"; fail "expected three launches"; }
status=0; advise -- /nonexistent/app 2>"$folder/words" || status=$?
[ $status = 4 ] || fail "a missing application gives $status"
