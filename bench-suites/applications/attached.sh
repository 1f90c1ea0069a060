#!/bin/sh
# Usage: attached.sh MINIEMU NAME APPLICATION [ARGUMENT...]. Runs an application alone and attached to and writes a row
# of CSV about it: its exit status both times; what became of its standard output, `same`, `numbers` where it differs in
# numbers only (times), or `other`; lines that say that a check passed or failed, both times; rows and configurations
# without one; seconds both times.
# The environment: OUT, a folder for the outputs (none: a temporary one); LIMIT, seconds for each run (600).
set -u
miniemu=$1 name=$2
shift 2
out=${OUT:-$(mktemp -d)}/$name
mkdir -p "$out"
passed='[Pp]assed|PASSED|success|right|[Tt]est [Pp]asses|Non-Matching.*: 0$|misses: 0$' failed='FAILED|[Ff]ailed|MISMATCH|incorrect|wrong'

plain_text() { sed -E 's/0x[0-9a-f]+|[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?/N/g; s/[ \t]+/ /g; s/\b(nan|inf)\b/N/g' "$1"; }
count() { grep -acE "$1" "$2"; }
timed() { # NAME COMMAND...
  into=$1
  shift
  begin=$(date +%s.%N)
  timeout "${LIMIT:-600}" "$@" >"$out/$into.out" 2>"$out/$into.err" </dev/null
  status=$?
  seconds=$(echo "$(date +%s.%N) - $begin" | bc)
}
timed plain "$@"
plain_status=$status plain_s=$seconds
timed attached "$miniemu" --attach --no-registers -o "$out/rows.csv" -- "$@"
if cmp -s "$out/plain.out" "$out/attached.out"; then
  output=same
elif [ "$(plain_text "$out/plain.out" | cksum)" = "$(plain_text "$out/attached.out" | cksum)" ]; then
  output=numbers
else
  output=other
fi
rows=0
[ -f "$out/rows.csv" ] && rows=$(($(wc -l <"$out/rows.csv") - 1))
without=$(sed -nE 's/^miniemu: ([0-9]+) configurations? without a row$/\1/p' "$out/attached.err" | tail -1)
printf '%s,%s,%s,%s,%s/%s,%s/%s,%s,%s,%.2f,%.2f\n' "$name" "$plain_status" "$status" "$output" \
  "$(count "$passed" "$out/plain.out")" "$(count "$failed" "$out/plain.out")" \
  "$(count "$passed" "$out/attached.out")" "$(count "$failed" "$out/attached.out")" \
  "$rows" "${without:-0}" "$plain_s" "$seconds"
