#!/bin/sh
# Usage: limits.sh MINIEMU TROUBLES: a kernel that never ends is stopped by either limit; the application learns it as from a
# device that watches the time, and ends by itself.
set -eu
miniemu=$1 app=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for limit in "--max-steps 100000" "--timeout 1"; do
  status=0
  "$miniemu" --attach --no-registers $limit -o "$folder/rows.csv" -- "$app" endless >"$folder/out" 2>"$folder/err" || status=$?
  fail() { echo "$limit: $1"; cat "$folder/out" "$folder/err"; exit 1; }
  [ $status = 5 ] || fail "status $status"  # no row at all
  [ "$(cat "$folder/out")" = cudaErrorLaunchTimeout ] || fail "another error"
  grep -q "kernel 'endless' has no row: it has not ended within the limits" "$folder/err" || fail "it is not named"
  [ "$(wc -l <"$folder/rows.csv")" = 1 ] || fail "a row of it"
  echo "$limit: stopped"
done
