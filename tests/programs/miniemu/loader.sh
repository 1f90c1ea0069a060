#!/bin/sh
# Usage: loader.sh LOADER MINIEMU APPLICATION: the application on the suite's own libOpenCL.so.1, as where none is
# installed.
set -eu
LD_LIBRARY_PATH=$(dirname "$1")
export LD_LIBRARY_PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trace=$folder/trace
LD_TRACE_LOADED_OBJECTS=1 LD_WARN=1 "$3" >"$trace" 2>&1 || true
grep -q "libOpenCL.so.1 => $LD_LIBRARY_PATH/" "$trace" || { echo "another loader:"; cat "$trace"; exit 1; }
! grep 'no version information\|undefined symbol' "$trace" || exit 1
"$2" --attach --as a100 --no-registers -o "$folder/rows.csv" -- "$3"
