#!/bin/sh
# grouped.py for each target: writes RESULTS/grouped.csv (target,status,s) and RESULTS/grouped-TARGET.csv, records of miniemu.
# Usage: grouped.sh TUTORIALS BIN RESULTS
set -eu
tutorials=$1 bin=$2 results=$3
mkdir -p "$results/tutorials"
echo target,status,s >"$results/grouped.csv"
for pair in sm_80:a100 sm_90a:h100 sm_100a:b200 sm_120a:rtx5090; do
  target=${pair%%:*} status=0 begin=$(date +%s.%N)
  "$bin/miniemu" --attach --as "${pair##*:}" --no-registers --quiet -o "$results/grouped-$target.csv" -- \
    "${PYTHON:-python3}" "$(dirname "$0")/grouped.py" "$tutorials" "$results/tutorials" >"$results/grouped.out" 2>"$results/grouped.err" ||
    status=$?
  text=ok
  [ $status = 0 ] || text=$(cat "$results/grouped.err" "$results/grouped.out" | grep -m1 "cannot be executed\|wrong\|rror" |
    sed 's/.*cannot be executed: //; s/; thread.*//' | tr ',"' ';' | cut -c1-100)
  echo "$target,$text,$(echo "$(date +%s.%N) - $begin" | bc)" >>"$results/grouped.csv"
done
