#!/bin/sh
# Usage: budget.sh MINIEMU TROUBLES: launches that --budget cannot afford have the rows that they have otherwise, and do not
# do their work; cheap ones before and after them do it.
set -eu
miniemu=$1 app=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
run() {  # NAME, and options
  name=$1
  shift
  "$miniemu" --attach --no-registers --groups 4 "$@" -o "$folder/$name.csv" -- "$app" costs >"$folder/$name" 2>"$folder/err" || true
}
fail() { echo "$1"; cat "$folder/err" "$folder"/usual* "$folder"/ample* "$folder"/small*; exit 1; }
run usual
run ample --budget 100000
run small --budget 400
tr '\n' ' ' <"$folder/usual" | grep -qx '64: right 2048: right 2048: right 64: right ' || fail "it fails by itself"
cmp -s "$folder/usual" "$folder/ample" || fail "what is affordable does not run"
tr '\n' ' ' <"$folder/small" | grep -qx '64: right 2048: wrong 2048: wrong 64: right ' || fail "what runs is not what is affordable"
grep -q 'a launch exceeds --budget' "$folder/err" || fail "nothing is said"
for name in ample small; do cmp -s "$folder/usual.csv" "$folder/$name.csv" || fail "$name: other rows"; done
status=0
"$miniemu" --attach --emit graph --budget 1 -o "$folder/graph" -- "$app" costs 2>"$folder/err" || status=$?
[ $status = 2 ] && grep -q 'exclude each other' "$folder/err" || fail "a graph with a budget: status $status"
