#!/bin/sh
# A worker that is ended by a signal takes one launch with it; the others have their advice, the application nothing of it.
. "$(dirname "$0")/common.sh"
"$programs/kernelcast-advise" --no-registers --no-cache -o "$folder/a.csv" -- "$application" "$folder/enough" 6 1 >"$folder/out" &
advisor=$!
children() { cat /proc/$1/task/$1/children 2>/dev/null || true; }
# The worker is the child that is the same program. It is stopped while its own child is looked for: where a compiler
# runs, the worker is in the middle of a launch when the signal reaches it.
killed=no
while [ $killed = no ]; do
  kill -0 $advisor 2>/dev/null || fail "it ended without a worker that compiles"
  for child in $(children $advisor); do
    [ "$(cat /proc/$child/comm 2>/dev/null)" = kernelcast-advi ] && [ -n "$(children $child)" ] || continue
    kill -STOP $child
    [ -z "$(children $child)" ] || { kill -SEGV $child && killed=yes; }
    kill -CONT $child
    [ $killed = no ] || break
  done
  sleep 0.01
done
touch "$folder/enough"
status=0; wait $advisor || status=$?
[ $status = 3 ] || fail "ended with $status"
grep -q "sum of the first group" "$folder/out" || fail "the application's output is gone"
cut -d, -f1,2,11,12 "$folder/a.csv"
[ "$(column "$folder/a.csv" status | sort | uniq -c | tr -s ' ' | tr '\n' ' ')" = " 1 failed  5 ok " ] || fail "expected one failure"
grep -q "ended by signal 11" "$folder/a.csv" || fail "not named"
