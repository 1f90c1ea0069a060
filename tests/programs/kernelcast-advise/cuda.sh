#!/bin/sh
# Usage: cuda.sh PROGRAMS APPLICATION RUNTIMES DEVDB. An application in CUDA, on the emulator and observed: its output
# and status are its own, and the projections are those of miniemu --attach and perfcast. RUNTIMES replace a GPU's.
set -eu
programs=$1 application=$2 runtimes=$3 database=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
fail() { echo "$*"; exit 1; }
column() { awk -F, -v want="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == want) at = i } NR > 1 { print $at }' "$1"; }
run() {  # program what-goes-to-its-output options…
  program=$1 name=$2
  shift 2
  status=0
  "$programs/$program" --no-registers -o "$folder/$name.csv" "$@" -- "$application" usual >"$folder/$name.out" 2>"$folder/$name.err" || status=$?
  [ $status = 7 ] || { cat "$folder/$name.err"; fail "$name: ended with $status"; }
}
run miniemu kernels --attach
run kernelcast-advise projections --emit projection --device a100,t4
cmp "$folder/kernels.out" "$folder/projections.out"
"$programs/perfcast" --device a100,t4 "$folder/kernels.csv" | sort >"$folder/expected"
sort "$folder/projections.csv" | diff "$folder/expected" - || fail "other projections"
run kernelcast-advise advice
[ "$(column "$folder/advice.csv" status | sort -u)" = ok ] || { cat "$folder/advice.csv"; fail "not all advised"; }
[ "$(column "$folder/advice.csv" kernel | sort)" = "$(column "$folder/kernels.csv" kernel | sort)" ] || fail "other launches"
# 0.01 % of half a second is not a time at all.
run kernelcast-advise none --budget 0.01
[ "$(column "$folder/none.csv" status | sort -u)" = over_budget ] || { cat "$folder/none.csv"; fail "beyond the budget"; }
# A GPU's runtime tells what it is asked, and launches are described.
export KERNELCAST_DEVDB="$database" LD_LIBRARY_PATH="$runtimes"
run kernelcast-advise gpu --with-gpu
cmp "$folder/kernels.out" "$folder/gpu.out"
# All but what depends on how much memory each knows of.
cut -d, -f1-2,7,11 "$folder/gpu.csv" | sort >"$folder/looked_on"
cut -d, -f1-2,7,11 "$folder/advice.csv" | sort | diff - "$folder/looked_on" || fail "other advice where there is a GPU"
# There CUDA has no device; what the application makes of it is its own.
status=0 other=0
"$programs/kernelcast-advise" --as mi100 -o "$folder/none.csv" -- "$application" 2>"$folder/words" || status=$?
"$programs/miniemu" --attach --as mi100 -o "$folder/none.csv" -- "$application" 2>"$folder/words" || other=$?
[ $status != 0 ] && [ $status = $other ] || fail "--as mi100: status $status, with miniemu $other"
echo "$(wc -l <"$folder/expected") rows equal those of miniemu and perfcast"
