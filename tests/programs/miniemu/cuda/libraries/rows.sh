#!/bin/sh
# Usage: rows.sh MINIEMU PERFCAST PROGRAM: three calls of cublasSgemm are one row, of which perfcast knows the time.
set -eu
miniemu=$1 perfcast=$2 program=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
"$miniemu" --attach --no-registers -o "$folder/rows.csv" -- "$program" one >"$folder/out"
cell() { awk -F, -v want="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == want) at = i } NR == 2 { print $at }' "$1"; }
equals() { [ "$(cell "$1" "$2")" = "$3" ] || { echo "$2 is '$(cell "$1" "$2")', expected '$3'"; exit 1; }; }
[ "$(wc -l <"$folder/rows.csv")" = 2 ] || { echo "rows:"; cut -d, -f1-3 "$folder/rows.csv"; exit 1; }
equals "$folder/rows.csv" kernel cublasSgemm
equals "$folder/rows.csv" case m1024_n1024_k1024_nt
equals "$folder/rows.csv" launches 3
equals "$folder/rows.csv" library gemm:f32:1024x1024x1024x1
equals "$folder/rows.csv" library_flop 6442450944
equals "$folder/rows.csv" global_footprint_bytes 12582912
"$perfcast" --device a100 "$folder/rows.csv" >"$folder/times.csv"
equals "$folder/times.csv" status ok
equals "$folder/times.csv" limiter compute
# Between the peak and a third of it.
awk -v t="$(cell "$folder/times.csv" time_s)" 'BEGIN { peak = 6442450944 / 19.49e12; exit !(t > peak && t < 3 * peak) }' ||
  { echo "another time: $(cell "$folder/times.csv" time_s)"; exit 1; }
[ "$("$perfcast" --model panwar --device a100 "$folder/rows.csv" | awk -F, 'NR == 2 { print $9 }')" = unknown ] ||
  { echo "another model projects it"; exit 1; }
