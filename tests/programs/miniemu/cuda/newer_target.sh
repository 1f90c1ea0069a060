#!/bin/sh
# Usage: newer_target.sh MINIEMU TILES.cu: a program that nvcc builds for sm_86 alone, as people build; its row has ptxas's
# registers of sm_86, and its guarded loads wait for memory once a round.
set -eu
miniemu=$1 source=$2
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || { echo "kernelcast-skipped: no nvcc"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
"$nvcc" -O3 -arch=sm_86 -cudart shared -Xptxas -v -o "$folder/app" "$source" 2>"$folder/ptxas"
registers=$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$folder/ptxas")
"$miniemu" --attach --quiet -o "$folder/rows.csv" -- "$folder/app" | grep -q '^right$'
awk -F, -v wanted="sm_86:$registers" '
  NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
  {
    if (index(";" $at["registers"] ";", ";" wanted ";") == 0) { print "registers are " $at["registers"] ", ptxas: " wanted; bad = 1 }
    # 64 / 8 rounds, and the two loads of the stores at the end are none.
    if ($at["group_path_miss"] > 8 + 2) { print $at["group_path_miss"] " misses in a row, of 8 rounds"; bad = 1 }
    if ($at["group_phases"] == "") { print "no phases"; bad = 1 }
  }
  END { exit bad || NR != 2 }' "$folder/rows.csv"
