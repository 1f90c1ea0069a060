#!/bin/sh
# Usage: with_gpu.sh MINIEMU RUNTIMES DEVDB APPLICATION...: --with-gpu, with our runtime in the place of the one that has a
# GPU. Output, exit status and rows are those of the emulator, of which nothing is read back.
set -eu
miniemu=$1 runtimes=$2 database=$3
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache" KERNELCAST_CUDA_AS=h100 KERNELCAST_DEVDB="$database"
for application in "$@"; do
  [ -x "$application" ] || { echo "kernelcast-skipped: $(basename "$application") was not built: no nvcc"; exit 0; }
  run() { mode=$1; shift; status=0; "$miniemu" --attach --no-registers -o "$folder/$mode.csv" "$@" -- "$application" >"$folder/$mode.out" 2>"$folder/$mode.err" || status=$?; echo $status >>"$folder/$mode.out"; }
  run emulator --as h100
  LD_LIBRARY_PATH="$runtimes" run gpu --with-gpu
  cmp "$folder/emulator.out" "$folder/gpu.out" || { cat "$folder/gpu.out" "$folder/gpu.err"; exit 1; }
  cmp "$folder/emulator.err" "$folder/gpu.err" || { cat "$folder/gpu.err"; exit 1; }
  # All but the footprint, of which no more is a buffer than it has, and what is allocated: the memory that each knows of.
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "global_footprint_bytes" || $i == "allocated_bytes" || $i == "touched_before" || $i ~ /_unions$/) skip[i] = 1 }
           { for (i in skip) $i = ""; print }' OFS=, "$folder/emulator.csv" | sort >"$folder/expected"
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "global_footprint_bytes" || $i == "allocated_bytes" || $i == "touched_before" || $i ~ /_unions$/) skip[i] = 1 }
           { for (i in skip) $i = ""; print }' OFS=, "$folder/gpu.csv" | sort >"$folder/seen"
  cmp "$folder/expected" "$folder/seen" || { echo "$(basename "$application"): other rows"; exit 1; }
  # Where footprints are regular a few groups tell what all of them do.
  case $(basename "$application") in streams | templates)
    "$miniemu" --attach --as h100 --no-registers --emit graph -o "$folder/exact.json" -- "$application" >"$folder/out" 2>&1
    LD_LIBRARY_PATH="$runtimes" "$miniemu" --attach --with-gpu --no-registers --emit graph -o "$folder/some.json" -- "$application" >"$folder/out" 2>&1
    for graph in exact some; do sed -n '/"nodes"/,$p' "$folder/$graph.json" >"$folder/$graph.nodes"; done
    cmp "$folder/exact.nodes" "$folder/some.nodes" || { echo "$(basename "$application"): another graph"; exit 1; }
  esac
  echo "$(basename "$application"): $(($(wc -l <"$folder/gpu.csv") - 1)) rows"
done
