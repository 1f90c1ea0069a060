#!/bin/sh
# Usage: on_finding.sh MINIEMU TROUBLES: an application whose kernels do wrong, with launches that go on after it, and
# checked ones.
set -eu
miniemu=$1 app=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
run() { # STATUS OUTPUT KIND OPTION...
  want=$1 output=$2 kind=$3
  shift 3
  status=0
  echo "--- $kind $*"
  "$miniemu" --attach --no-registers "$@" -o "$folder/rows.csv" -- "$app" "$kind" >"$folder/out" 2>"$folder/err" || status=$?
  [ $status = "$want" ] || fail "status $status, not $want"
  [ "$(tr '\n' ' ' <"$folder/out")" = "$output" ] || fail "the application's output is not '$output'"
}
fail() { echo "$1"; cat "$folder/out" "$folder/err"; exit 1; }
said() { [ "$(grep -c "$2" "$folder/err")" = "$1" ] || fail "'$2' is not said $1 times"; }
rows() { [ "$(wc -l <"$folder/rows.csv")" = $(($1 + 1)) ] || fail "not $1 rows"; }

# 2^20 work-items, of which 128 have an element: the others load and store behind it.
run 1 "128: right cudaSuccess cudaSuccess cudaSuccess 256: right " fault --on-finding continue
said 1 "kernel 'add', line 17 of its PTX: launch 2: global load of 4 bytes at offset 512 .* the first of 1048448 passed over"
said 1 "kernel 'add', line 19 of its PTX: launch 2: global store of 4 bytes at offset 512 .* the first of 1048448 passed over"
said 2 "kernel"
rows 3
run 0 "128: right cudaErrorIllegalAddress cudaErrorIllegalAddress cudaSuccess 256: right " fault --on-finding stop
said 0 "passed over"
line=$(grep -n 'cudaMalloc(&data, 512)' "${0%/*}/trouble_kernels.cpp" | head -1 | cut -d: -f1) # with its folder's -g1
said 2 "of buffer 'cudaMalloc #[0-9]' (512 bytes, allocated at trouble_kernels.cpp:$line)"
said 1 "hint: --on-finding continue"

# A launch that cannot go on ends as ever.
run 5 "cudaErrorLaunchTimeout " endless --on-finding continue --max-steps 100000

# Equal stores are no fault, others are; both launches read shared memory that nothing has written.
run 0 "cudaSuccess cudaSuccess " collides
run 1 "cudaSuccess cudaErrorLaunchFailure " collides --check-races
said 2 "race of equal stores"
said 3 "kernel .collide., line"
said 2 "launch 1: race of equal stores: .* and both store the same value"
said 1 "launch 2: race: global store of 4 bytes at offset 0"
run 1 "cudaSuccess cudaSuccess " collides --check-races --check-uninit --on-finding continue
said 1 "launch 2: race: global store of 4 bytes at offset 0"
said 1 "launch 1: shared load of 4 bytes at offset 0, which was never written"
rows 1
echo "passed"
