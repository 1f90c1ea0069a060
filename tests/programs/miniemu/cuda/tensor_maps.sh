#!/bin/sh
# Usage: tensor_maps.sh MINIEMU APPLICATION: all of its checks hold, and its tile counts once as loaded, twice as stored;
# so does the launch that was kept, a cluster whose tensor map points to where its tensor is now.
set -eu
miniemu=$1 app=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
"$miniemu" --attach --as h100 --no-registers --keep "$folder/kept" -o "$folder/rows.csv" -- "$app" >"$folder/out" 2>"$folder/err" ||
  { cat "$folder/out" "$folder/err"; exit 1; }
[ "$(tail -n 1 "$folder/out")" = "0 failures" ] || { cat "$folder/out"; exit 1; }
"$miniemu" "$folder"/kept/launch-*.toml --no-registers -o "$folder/again.csv"
# 12 columns of 3 rows are in the tensor; both groups store their 256 bytes.
for rows in rows again; do
  awk -F, '
    NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
    { load += $column["global_load_bytes"]; store += $column["global_store_bytes"]; groups += $column["groups_emulated"] }
    END { if (load != 144 || store != 512 || groups != 2) { print load, store, groups; exit 1 } }' "$folder/$rows.csv"
done
# A trace has the rows of both.
"$miniemu" "$folder"/kept/launch-*.toml --no-registers --groups all --emit trace -o "$folder/trace.csv"
groups=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next } $1 == "exec" { print $column["group"] }' \
  "$folder/trace.csv" | sort -u | tr '\n' ' ')
[ "$groups" = "0 1 " ] || { echo "rows of groups $groups"; exit 1; }
