#!/bin/sh
# Usage: clang.sh PROGRAMS MINIEMU KERNELCAST: the answer about regions that clang compiled, with copies in the order of
# the program; a program that has no code for a GPU gets a hint.
set -eu
. "$(dirname "$0")/start.sh"
compile_by_clang "$folder/app" "$programs/sections.c" || { echo "kernelcast-skipped: $why"; exit 0; }
"$kernelcast" choose --devices a100,h100,l40 --no-registers --files "$folder/made" -- "$folder/app" >"$folder/out" \
  2>"$folder/err" || fail "status $?"
grep -q '^fastest: [ahl][14]0*, ' "$folder/out" || fail "the fastest device"
name=one_after_another:$(grep -n 'region one_after_another$' "$programs/sections.c" | cut -d: -f1)
grep -qF "$name (" "$folder/out" || fail "no $name among the largest kernels"
# Eight parts of 2048 bytes, twice, each copied to the device, worked on, and copied back.
awk -F, -v name="$name" 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
  $at["kind"] == "h2d" && $at["bytes"] == 2048 { seen = 1 }
  $at["kernel"] == name && seen == 1 { seen = 2 }
  $at["kind"] == "d2h" && $at["bytes"] == 2048 && seen == 2 { ++found; seen = 0 }
  END { exit found != 16 }' "$folder/made/commands.csv" || fail "copies and kernels are not in their order"

# compiler, libraries: compile_by_clang's. Machine code needs NVIDIA's assembler; without -g it has no PTX beside it.
for option in -fopenmp --offload-arch=sm_80; do
  LIBRARY_PATH=$libraries "$compiler" -O2 -fopenmp $option "-Wl,-rpath,$libraries" -o "$folder/other" "$programs/sections.c" \
    2>"$folder/err" || continue
  "$miniemu" --attach --no-registers -o "$folder/rows.csv" -- "$folder/other" >"$folder/out" 2>"$folder/err" || :
  grep -q '^hint: its regions have .*-foffload-lto -Wl,--embed-bitcode' "$folder/err" || fail "no hint about $option"
done
