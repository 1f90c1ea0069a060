#!/bin/sh
# flux-count --backend cuda on a driver that executes on the emulator: counts are those of the emulator, and the ratio of
# times, which go by issue slots there, that of issue slots. Usage: cuda_backend.sh BIN SOURCE STANDIN_FOLDER
set -eu
bin=$1 suite=$2/bench-suites/polybench
export LD_LIBRARY_PATH="$3${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
lanes() { awk -F, '{ print $1 "," $3 "," $4 "," $5 }' "$1"; }
ratios() {  # columns
  awk -F, -v columns="$2" 'NR == 1 { n = split(columns, names, " "); for (c = 1; c <= NF; ++c) at[$c] = c; next }
    { printf "%s", $1; for (i = 1; i <= n; ++i) printf " %.4f", $at[names[i]]; print "" }' "$1"
}
compared=0
for name in atax corr jacobi2d lu; do
  for backend in cuda emulator; do
    "$bin/flux-count" "$suite/$name.toml" --set small --backend $backend >$backend.csv
    lanes $backend.csv >$backend.lanes
    "$bin/flux-count" "$suite/$name.toml" --set small --backend $backend --emit overhead >$backend.overhead
  done
  diff emulator.lanes cuda.lanes || { echo "$name: counts differ"; exit 1; }
  ratios emulator.overhead "launches blocks counters overhead overhead_every_block" >emulator.ratios
  ratios cuda.overhead "launches blocks counters time_overhead time_overhead_every_block" >cuda.ratios
  diff emulator.ratios cuda.ratios || { echo "$name: ratios differ"; exit 1; }
  compared=$((compared + 1))
done
echo "$compared workloads: counts and ratios agree"
