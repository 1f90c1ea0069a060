#!/bin/sh
# Usage: symbols.sh NM LIBRARY HEADER. The library shows what the header declares, no more and no less.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -D --defined-only "$2" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$folder/shown"
grep -oE '^KERNELCAST_API .*' "$3" | grep -oE 'kernelcast_[a-z_]+\(' | tr -d '(' | sort -u >"$folder/declared"
diff "$folder/declared" "$folder/shown" || { echo "declared (<) and shown (>) differ"; exit 1; }
[ -s "$folder/declared" ] && echo "$(wc -l <"$folder/declared") functions"
