#!/bin/sh
# Builds the programs and runs every check that needs a CUDA device; each prints ok, FAILED or skipped. Not part of
# `make check`. Usage: tests/gpu/run.sh [BUILD_FOLDER]
#
# A check is a file tests/gpu/checks/NAME.sh: run with BIN, LIB and SOURCE in the environment and an empty folder as its
# working directory; status 0 ok, 77 skipped (the last line says why), anything else failed.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$source/build}
if [ ! -x "$build/bin/flux-count" ]; then
  make -C "$source" build || exit 1
fi
export BIN="$build/bin" LIB="$build/lib" SOURCE="$source" PATH="$build/bin:$PATH"
failed=0
for check in "$source"/tests/gpu/checks/*.sh; do
  name=$(basename "$check" .sh)
  folder=$(mktemp -d)
  status=0
  (cd "$folder" && sh "$check") >"$folder.log" 2>&1 || status=$?
  case $status in
    0) echo "ok       $name: $(tail -n 1 "$folder.log")" ;;
    77) echo "skipped  $name: $(tail -n 1 "$folder.log")" ;;
    *) echo "FAILED   $name"; sed 's/^/         /' "$folder.log"; failed=1 ;;
  esac
  rm -rf "$folder" "$folder.log"
done
exit $failed
