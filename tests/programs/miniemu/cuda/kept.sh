#!/bin/sh
# Usage: kept.sh MINIEMU APPLICATION [WITHOUT]. --keep on the emulator: each row has its launch file, which run again gives
# the same row in every column, or is named as having none; of those there are WITHOUT (0).
set -eu
miniemu=$1 application=$2 without=${3:-0} name=$(basename "$2")
[ -x "$application" ] || { echo "kernelcast-skipped: $name was not built: no nvcc"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
status=0
"$miniemu" --attach --no-registers --groups first --keep "$folder/kept" -o "$folder/rows.csv" -- "$application" >"$folder/out" 2>"$folder/err" || status=$?
fail() { echo "$name: $1"; cat "$folder/err"; exit 1; }
[ $status = 0 ] || fail "status $status"

# All columns but the name of the case, the footprint and what is allocated, which is the memory that each knows of, registers, which
# are put in afterwards, and those of one group, which sees what the groups before it left: all of them in the application.
plain() { awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "case" || $i == "global_footprint_bytes" || $i == "registers_ptx" || $i == "allocated_bytes" || $i ~ /^group_/) skip[i] = 1 }
                   { for (i in skip) $i = ""; print }' OFS=, "$1"; }
rows=0 same=0
for row in "$folder"/kept/row-*.csv; do
  rows=$((rows + 1))
  launch=$(echo "$row" | sed 's:/row-\([^/]*\)\.csv$:/launch-\1.toml:')
  [ -e "$launch" ] || continue
  "$miniemu" --no-registers --groups first "$launch" >"$folder/again.csv" || fail "$launch cannot be run"
  plain "$row" >"$folder/expected"
  plain "$folder/again.csv" >"$folder/seen"
  cmp "$folder/expected" "$folder/seen" || { cat "$launch"; fail "another row"; }
  same=$((same + 1))
done
[ $rows -gt 0 ] || fail "no rows"
[ $((rows - same)) = "$without" ] || fail "$same launch files of $rows rows"
[ "$(ls "$folder/kept" | grep -c '^unkept-')" = "$without" ] || fail "not every launch without a file is named"
echo "$name: $same of $rows rows equal to their launch files; $(cat "$folder"/kept/unkept-*.txt 2>/dev/null | sed -n '2~2p' | sort | uniq -c)"
