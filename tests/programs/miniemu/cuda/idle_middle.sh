#!/bin/sh
# Usage: idle_middle.sh MINIEMU APPLICATION: the columns of one group are those of a group with work, and the program is
# none the wiser.
set -eu
miniemu=$1 app=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
"$miniemu" --attach --no-registers -o "$folder/rows.csv" -- "$app" >"$folder/out" 2>"$folder/err" ||
  { cat "$folder/out" "$folder/err"; exit 1; }
[ "$(tail -n 1 "$folder/out")" = "0 failures" ] || { cat "$folder/out"; exit 1; }
# The word of the list, and 64 lines.
awk -F, '
  NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
  { requests = $column["group_load_requests"]; unions = $column["group_load_unions"] }
  END { if (requests != "1/1/1:1;1/4/1:64" || unions == "") { print requests, unions; exit 1 } }' "$folder/rows.csv"
