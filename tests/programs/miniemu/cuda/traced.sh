#!/bin/sh
# Usage: traced.sh MINIEMU APPLICATION KERNEL: the trace of one kernel of an application has the rows of its launch files,
# run again. KERNEL is its name in the source.
set -eu
miniemu=$1 application=$2 kernel=$3 name=$(basename "$2")
[ -x "$application" ] || { echo "kernelcast-skipped: $name was not built: no nvcc"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
fail() { echo "$name: $1"; cat "$folder/err"; exit 1; }
"$miniemu" --attach --no-registers --emit trace --kernels "$kernel" --keep "$folder/kept" -o "$folder/trace.csv" -- \
  "$application" >"$folder/out" 2>"$folder/err" || fail "no trace"
[ ! -s "$folder/err" ] || fail "messages on standard error"

# Launch by launch, without the name of the case; a kernel's instructions once.
column() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) print i }' "$folder/trace.csv"; }
launches=0
sed -n 1p "$folder/trace.csv" >"$folder/expected"
for launch in $(ls "$folder"/kept/launch-*.toml | sort -t- -k3 -n); do
  grep -q "^kernel = .*[0-9]$kernel" "$launch" || continue
  launches=$((launches + 1))
  "$miniemu" --no-registers --emit trace "$launch" >"$folder/one.csv" || fail "$launch cannot be run"
  sed 1d "$folder/one.csv" >>"$folder/expected"
done
[ $launches -gt 0 ] || fail "no launch of $kernel"
plain() { awk -F, -v at="$(column case)" '{ $at = "" } !/^inst/ || !seen[$0]++' OFS=, "$1"; }
plain "$folder/trace.csv" >"$folder/seen.plain"
plain "$folder/expected" >"$folder/expected.plain"
cmp "$folder/expected.plain" "$folder/seen.plain" || { diff "$folder/expected.plain" "$folder/seen.plain" | head; fail "other rows"; }
echo "$name: $(($(wc -l <"$folder/seen.plain") - 1)) rows of $launches launches"
