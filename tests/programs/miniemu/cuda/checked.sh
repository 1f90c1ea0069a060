#!/bin/sh
# Usage: checked.sh MINIEMU APPLICATION: all checks in every launch find nothing, and the application's own check passes,
# also where launches have a budget that is ample.
set -eu
miniemu=$1 application=$2 name=$(basename "$2")
[ -x "$application" ] || { echo "kernelcast-skipped: $name was not built: no nvcc"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0 want=0
[ "$name" = errors ] && want=1 # its last launch accesses what is in no buffer
"$miniemu" --attach --no-registers --check-races --check-uninit --check-division --findings 100 -o "$folder/rows.csv" -- \
  "$application" >"$folder/out" 2>"$folder/err" || status=$?
show() { echo "$name: $1"; cat "$folder/out" "$folder/err"; exit 1; }
[ $status = $want ] || show "status $status"
[ "$(tail -n 1 "$folder/out")" = PASSED ] || show "its check fails"
"$miniemu" --attach --no-registers --budget 100000000000 -o "$folder/rows.csv" -- "$application" \
  >"$folder/out" 2>"$folder/err" || [ $want = 1 ] || show "it fails with a budget"
[ "$(tail -n 1 "$folder/out")" = PASSED ] || show "its check fails with a budget"
echo "$name: $(grep -c 'equal stores' "$folder/err" || :) places of equal stores"
