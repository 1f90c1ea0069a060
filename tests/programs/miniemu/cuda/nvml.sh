#!/bin/sh
# Usage: nvml.sh MINIEMU APPLICATION
set -eu
miniemu=$1 app=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
"$miniemu" --attach --as a100 --as rtx3080 -o "$folder/rows.csv" -- "$app" >"$folder/out" 2>"$folder/err" || status=$?
cat "$folder/out" "$folder/err"
tail -n 1 "$folder/out" | grep -qx "0 failures"
