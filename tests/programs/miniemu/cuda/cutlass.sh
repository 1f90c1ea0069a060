#!/bin/sh
# Usage: cutlass.sh MINIEMU EXAMPLE FLAGS…: an example of CUTLASS for sm_100 verifies what it computed. Needs nvcc and a tree of
# CUTLASS (KERNELCAST_CUTLASS names it); nothing is downloaded. Compiling takes a minute.
set -eu
miniemu=$1 example=$2
shift 2
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "kernelcast-skipped: no nvcc"; exit 0; }
tree=${KERNELCAST_CUTLASS:-}
source=$(echo "${tree:-none}"/examples/*/"$example.cu")
[ -f "$source" ] || { echo "kernelcast-skipped: KERNELCAST_CUTLASS names no tree with $example.cu"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
driver=$(dirname "$(dirname "$(readlink -f "$nvcc")")")/lib64/stubs
"$nvcc" -std=c++17 -O1 -w --expt-relaxed-constexpr -gencode arch=compute_100a,code=compute_100a -cudart shared \
  -I"$tree/include" -I"$tree/tools/util/include" -I"$tree/examples/common" "$source" -o "$folder/app" -L"$driver" -lcuda
status=0
"$miniemu" --attach --as b200 --no-registers -o "$folder/rows.csv" -- "$folder/app" --iterations=0 "$@" >"$folder/out" 2>"$folder/err" ||
  status=$?
cat "$folder/out" "$folder/err"
[ $status = 0 ] || { echo "exit status $status"; exit 1; }
grep -q "Passed" "$folder/out" || { echo "it verified nothing"; exit 1; }
grep -q "tcgen05/" "$folder/rows.csv" || { echo "no row has products of tcgen05"; exit 1; }
