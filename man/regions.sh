#!/bin/sh
# regions.sh update PAGE…    generate the tables of these pages from the programs on PATH, in place
# regions.sh compare PAGE…   fail, with the difference, where a page says something else than the programs
set -eu
mode=$1
shift
here=$(dirname "$0")
new=$(mktemp)
trap 'rm -f "$new"' EXIT
status=0
for page; do
  awk -f "$here/regions.awk" "$page" >"$new"
  if [ "$mode" = update ]; then
    cmp -s "$new" "$page" || cat "$new" >"$page"
  elif ! diff -u "$page" "$new"; then
    echo "$page differs from the programs; build the target man-update and review the difference"
    status=1
  fi
done
exit $status
