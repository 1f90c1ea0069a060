#!/bin/sh
# Usage: graph.sh MINIEMU PARTSIM opencl|cuda APPLICATION [TEXT...]. The graph of an application: its output and status are
# the same, each launch is a node, each TEXT is in it, and partsim says for every number of GPUs what it takes. A
# CUDA application runs attached only.
set -eu
miniemu=$1 partsim=$2 kind=$3 application=$4
shift 4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache" POCL_CACHE_DIR="$folder/pocl"
fail() { echo "$*"; exit 1; }
attached() { "$miniemu" --attach --no-registers "$@" -- "$application"; }
status=0
if [ $kind = cuda ]; then
  [ -x "$application" ] || { echo "kernelcast-skipped: $(basename "$application") was not built: no nvcc"; exit 0; }
  attached -o "$folder/first.csv" >"$folder/plain" 2>&1 || status=$?
else
  "$application" >"$folder/plain" 2>&1 || status=$?
  if [ $status = 77 ]; then echo "kernelcast-skipped: no OpenCL device"; exit 0; fi
fi
got=0; attached --emit graph -o "$folder/graph.json" >"$folder/attached" 2>&1 || got=$?
cmp "$folder/plain" "$folder/attached"
[ $got = $status ] || fail "ends with $got, alone with $status"
attached -o "$folder/rows.csv" >/dev/null 2>&1 || [ $? = $status ]

for text in "$@"; do
  grep -qF "$text" "$folder/graph.json" || { cat "$folder/graph.json"; fail "it lacks $text"; }
done
launches=$(awk -F, 'NR > 1 { sum += $3 } END { print sum }' "$folder/rows.csv")
nodes=$(grep -c '"kind": "kernel", "kernel": "[^"]*", "case"' "$folder/graph.json")
[ "$launches" = "$nodes" ] || fail "$launches launches, but $nodes nodes"
"$partsim" --graph "$folder/graph.json" --gpu a100 --system dgx-a100 --gpus 1-8 >"$folder/simulation.csv"
[ "$(grep -c ',ok,' "$folder/simulation.csv")" = 8 ] || { cat "$folder/simulation.csv"; fail "not every number of GPUs has a time"; }
# Kernel time is the longest part's: never less than its share, never more than all of it.
awk -F, 'NR == 2 { one = $8 } NR > 1 && ($8 > one * 1.000001 || $8 < one / $3 * 0.999999) { bad = 1 } END { exit bad }' \
  "$folder/simulation.csv" || { cut -d, -f1-9 "$folder/simulation.csv"; fail "kernel times do not divide"; }

# One pipe.
mkfifo "$folder/pipe"
"$partsim" --graph - --gpu a100 --system dgx-a100 --choose <"$folder/pipe" >"$folder/choice.csv" &
attached --emit graph -o "$folder/pipe" >/dev/null 2>&1 || [ $? = $status ]
wait $!
[ "$(wc -l <"$folder/choice.csv")" = 2 ] || fail "no choice"
cut -d, -f1-7 "$folder/choice.csv"
echo "$nodes launches, $(grep -c '"kind"' "$folder/graph.json") nodes"
