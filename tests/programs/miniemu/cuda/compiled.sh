#!/bin/sh
# Usage: compiled.sh MINIEMU PROGRAM.cu: compiled by nvcc with the shared runtime, the program finds what it reckons
# itself, on two devices that it sees.
set -eu
miniemu=$1 source=$2
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "kernelcast-skipped: no nvcc"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
"$nvcc" -std=c++17 -arch=sm_75 -cudart shared "$source" -o "$folder/app"
status=0
"$miniemu" --attach --as t4 --as h100 --no-registers -o "$folder/rows.csv" -- "$folder/app" >"$folder/out" 2>"$folder/err" || status=$?
cat "$folder/out" "$folder/err"
[ $status = 0 ] || { echo "exit status $status"; exit 1; }
[ ! -s "$folder/err" ] || { echo "something on standard error"; exit 1; }
[ "$(wc -l <"$folder/rows.csv")" -gt 1 ] || { echo "no rows"; exit 1; }
