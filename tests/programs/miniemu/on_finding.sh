#!/bin/sh
# Usage: on_finding.sh MINIEMU TROUBLES: a launch of an OpenCL application that reads behind its buffer, 4 bytes beyond in
# each of 1024 work-items, has its row and its findings, and the application is as before.
set -eu
miniemu=$1 app=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export XDG_CACHE_HOME="$folder/cache" POCL_CACHE_DIR="$folder/pocl"
fail() { echo "$1"; cat attached.err; exit 1; }
status=0
"$app" fault >plain.out 2>plain.err || status=$?
if [ $status = 77 ]; then echo "kernelcast-skipped: no OpenCL device"; exit 0; fi
status=0
"$miniemu" --attach --no-registers --on-finding continue --groups all -o rows.csv -- "$app" fault >attached.out 2>attached.err ||
  status=$?
cmp plain.out attached.out || fail "the output differs"
[ $status = 1 ] || fail "status $status, not 1"
[ "$(wc -l <rows.csv)" = 3 ] || fail "not 2 rows"
grep -q "global load of 4 bytes at offset 4096 of buffer 'x' (4096 bytes), the first of 1024 passed over" attached.err ||
  fail "the finding is not told"
status=0
"$miniemu" --attach --no-registers --check-races -o rows.csv -- "$app" fault >attached.out 2>attached.err || status=$?
[ $status = 1 ] || fail "checked: status $status, not 1"
