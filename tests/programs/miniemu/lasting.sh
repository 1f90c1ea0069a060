#!/bin/sh
# Usage: lasting.sh MINIEMU TROUBLES: the sources of an application's programs, which the cache keeps, have their time of
# use renewed by each run; otherwise the cache would drop what is in use.
set -eu
miniemu=$1 app=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache" POCL_CACHE_DIR="$folder/pocl"
attach() {
  status=0
  "$miniemu" --attach --no-registers -o "$folder/rows.csv" -- "$app" clears >"$folder/out" 2>"$folder/err" || status=$?
  if [ $status = 77 ]; then echo "kernelcast-skipped: no OpenCL device"; exit 0; fi
  [ $status = 0 ] || { cat "$folder/out" "$folder/err"; exit 1; }
}
programs="$folder/cache/kernelcast/programs"
attach
count=$(find "$programs" -name 'program-*' | wc -l)
[ "$count" -gt 0 ] || { echo "no source is kept"; exit 1; }
find "$programs" -name 'program-*' -exec touch -d '40 days ago' {} +
attach
[ "$(find "$programs" -name 'program-*' -mtime -1 | wc -l)" = "$count" ] || { ls -l "$programs"; exit 1; }
echo "$count sources"
