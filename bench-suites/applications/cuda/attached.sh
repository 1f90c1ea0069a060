#!/bin/sh
# Runs a CUDA application on the emulator, unmodified: it checks its results itself, all of its kernels have rows, and
# the one fault that it makes on purpose (errors) is named. Usage: attached.sh MINIEMU APPLICATION [OTHER]
# OTHER: the same program in another build, whose rows must be the same.
set -eu
miniemu=$1 application=$2 name=$(basename "$2") other=${3:-}
[ -x "$application" ] || { echo "kernelcast-skipped: $name was not built: no nvcc"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
"$miniemu" --attach --no-registers --as h100 -o "$folder/rows.csv" -- "$application" >"$folder/out" 2>"$folder/err" ||
  status=$?
show() { echo "$name: $1"; cat "$folder/out" "$folder/err"; exit 1; }
[ $status = 0 ] || show "status $status"
[ "$(tail -n 1 "$folder/out")" = PASSED ] || show "its check fails"
if [ "$name" = errors ]; then
  grep -q "kernel '_Z5writePii', .*: global store of 4 bytes at address 16, which is in no buffer" "$folder/err" ||
    show "the fault is not named"
else
  ! grep -qv "the application is told of" "$folder/err" || show "messages on standard error"
fi
[ "$(wc -l <"$folder/rows.csv")" -gt 1 ] || show "no rows"
# Of threads of the host the first launch may be another's the next time.
if [ -n "$other" ] && [ "$name" != host_threads ]; then
  "$miniemu" --attach --no-registers --as h100 -o "$folder/other.csv" -- "$other" >"$folder/out" 2>"$folder/err" || true
  cmp "$folder/rows.csv" "$folder/other.csv" || show "$other has other rows"
fi
echo "$name: passed, $(($(wc -l <"$folder/rows.csv") - 1)) configurations"
