#!/bin/sh
# Runs a program with regions of OpenMP or OpenACC, compiled by GCC or clang for nvptx, on the emulator: it checks its
# results itself and prints what it prints on the host, and each line of its sources that says "region FUNCTION" has a
# row FUNCTION:LINE. Usage: attached.sh MINIEMU openmp|openacc|clang SOURCE...
set -eu
miniemu=$1 model=$2 here=$(dirname "$0")
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
. "$here/compile.sh"
case $model in
clang) compile_by_clang "$folder/app" "$@" ;;
*) compile "$model" "$folder/app" "$@" ;;
esac || { echo "kernelcast-skipped: $why"; exit 0; }
fail() { echo "$1: $2"; cat "$folder/out" "$folder/err"; exit 1; }
name=$(basename "$1")
OMP_TARGET_OFFLOAD=disabled ACC_DEVICE_TYPE=host "$folder/app" >"$folder/host" || fail "$name" "it fails on the host"
status=0
"$miniemu" --attach --no-registers -o "$folder/rows.csv" -- "$folder/app" >"$folder/out" 2>"$folder/err" || status=$?
[ $status = 0 ] || fail "$name" "status $status"
# libomptarget says of GPUs' code as of the host's what was not vectorized.
! grep -qv 'loop not vectorized' "$folder/err" || fail "$name" "messages on standard error"
cmp "$folder/host" "$folder/out" || fail "$name" "it prints something else than on the host"
for source in "$@"; do
  sed -n 's/.*[/!]\/* *region \([^ ].*\)$/\1/;t found;d;:found;=;p' "$source" | paste - - | while read -r line function; do
    cut -d, -f1 "$folder/rows.csv" | grep -qxF "$function:$line" || fail "$name" "no row of $function:$line"
  done
done
echo "$name: passed, $(($(wc -l <"$folder/rows.csv") - 1)) configurations"
