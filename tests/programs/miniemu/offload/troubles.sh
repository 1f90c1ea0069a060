#!/bin/sh
# Usage: troubles.sh PROGRAMS MINIEMU KERNELCAST: a program that was built without code for a GPU is an error with a hint,
# and runs on the host where the user asks for it; abort() in a region is named, and ends the program.
set -eu
programs=$1 miniemu=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
. "$programs/compile.sh"
compile openmp "$folder/aborts" "$programs/aborts.c" || { echo "kernelcast-skipped: $why"; exit 0; }
fail() { echo "$1"; cat "$folder"/out "$folder"/err; exit 1; }
attach() { status=0; "$miniemu" --attach --no-registers -o "$folder/rows.csv" -- "$@" >"$folder/out" 2>"$folder/err" || status=$?; }

attach "$folder/aborts"
[ $status != 0 ] || fail "abort() is lost"
! grep -q "not reached" "$folder/out" || fail "the program goes on after abort()"
grep -q 'main:[0-9]* has no row\|main:[0-9]*.* has no row' "$folder/err" || fail "the kernel that calls abort() is not named"

cat >"$folder/host.c" <<'END'
#include <stdio.h>
int main(void) {
  int x = 3;
#pragma omp target map(tofrom : x)
  x += 4;
  printf("%d\n", x);
  return x != 7;
}
END
compile openmp "$folder/host" "$folder/host.c" -foffload=disable || fail "it cannot be built for the host"
attach "$folder/host"
[ $status != 0 ] || fail "regions that run on the host are no error"
grep -q 'OMP_TARGET_OFFLOAD' "$folder/err" || fail "libgomp does not say what is wrong"
grep -q '^hint: its regions have no code for a GPU: build it with -fopenmp -foffload=nvptx-none' "$folder/err" || fail "no hint"
OMP_TARGET_OFFLOAD=default attach "$folder/host"
[ $status = 0 ] || fail "status $status where the user permits the host"
grep -q '^hint: its regions have no code for a GPU' "$folder/err" || fail "no hint where the user permits the host"
