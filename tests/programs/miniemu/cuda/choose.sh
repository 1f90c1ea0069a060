#!/bin/sh
# Usage: choose.sh KERNELCAST TROUBLES: the answer about an application, whose output goes to standard error.
set -eu
kernelcast=$1 app=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$1"; cat "$folder"/out "$folder"/err; exit 1; }
choose() { "$kernelcast" choose --devices h100,l40,k20 "$@" >"$folder/out" 2>"$folder/err"; }
choose --no-registers --files "$folder/made" -- "$app" costs || fail "status $?"
grep -q '^64: right$' "$folder/err" || fail "the application's output is missing"
[ "$(wc -l <"$folder/out")" -le 10 ] || fail "more than ten lines"
head -1 "$folder/out" | grep -q ' launches, 100 % of them counted; ' || fail "what was seen"
grep -q '^fastest: [hl][14]0*, .* not decided against [hl][14]0*$' "$folder/out" || fail "the fastest device"
grep -q '^times: launches, kernels and copies, not the host' "$folder/out" || fail "copies are missing"
for file in kernels commands projections ranking; do [ -s "$folder/made/$file.csv" ] || fail "no $file.csv"; done
choose --no-registers --format csv -- "$app" costs || fail "status $?"
[ "$(wc -l <"$folder/out")" = 4 ] || fail "three devices have three rows"  # `sum` is left out
# On one link devices copy alike; the host's own time is added so many times.
choose --no-registers --link 'PCIe 3.0 x8' --host 2 --format csv -- "$app" costs || fail "with a link: status $?"
[ "$(cut -d, -f9 "$folder/out" | sort -u | grep -c .)" -ge 1 ] || fail "no limiter"
status=0
choose --link 'PCIe 9.0 x8' -- "$app" costs || status=$?
[ $status = 2 ] && grep -q "'PCIe 9.0 x8' is no link" "$folder/err" || fail "a wrong link: status $status"
status=0
choose --no-registers -- "$app" leaves || status=$?
[ $status = 4 ] && grep -q 'exited with status 4' "$folder/err" || fail "the application's status is lost: $status"
grep -q '^fastest: ' "$folder/out" || fail "no answer about what ran"
