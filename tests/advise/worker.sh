#!/bin/sh
# A worker that is ended by a signal takes one launch with it; the others have their advice, the application nothing of it.
. "$(dirname "$0")/common.sh"
"$programs/kernelcast-advise" --no-registers --no-cache -o "$folder/a.csv" -- "$application" 1 6 1 >"$folder/out" &
advisor=$!
killed=no
for i in $(seq 1 100); do
  # The worker is the child that is the same program.
  for child in $(cat /proc/$advisor/task/$advisor/children 2>/dev/null); do
    if [ "$(cat /proc/$child/comm 2>/dev/null)" = kernelcast-advi ] && [ $killed = no ] &&
      [ -n "$(cat /proc/$child/task/$child/children)" ]; then
      kill -SEGV "$child" && killed=yes
    fi
  done
  [ $killed = yes ] && break
  sleep 0.01
done
status=0; wait $advisor || status=$?
[ $status = 3 ] || fail "ended with $status"
grep -q "sum of the first group" "$folder/out" || fail "the application's output is gone"
cut -d, -f1,2,11,12 "$folder/a.csv"
[ $killed = yes ] || { echo "kernelcast-skipped: the worker was too fast"; exit 0; }
[ "$(column "$folder/a.csv" status | sort | uniq -c | tr -s ' ' | tr '\n' ' ')" = " 1 failed  5 ok " ] || fail "expected one failure"
grep -q "ended by signal 11" "$folder/a.csv" || fail "not named"
