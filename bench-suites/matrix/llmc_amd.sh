#!/bin/sh
# llm.c's kernels for AMD's devices: clang compiles them for gfx942 from the source, with llmc.h in place of CUDA's headers.
# Usage: llmc_amd.sh LLMC BIN RESULTS: writes RESULTS/llmc/PROGRAM-gfx942.csv, records of miniemu, for each line of llmc_amd.txt.
# The source is the program without what the host does; its kernels are as they are.
set -eu
llmc=$1 bin=$2 results=$3
here=$(cd "$(dirname "$0")" && pwd)
build=$results/llmc/gfx942
mkdir -p "$build"
awk '/^\/\/ checking utils|^\/\/ reduced|^\/\/ random utils/ { taken = 0 } /^#define WARP_SIZE|^\/\/ to make sure that 2/ { taken = 1 }
     taken && !/^extern/ { print } /^typedef Packed128<floatX>/ { print }' "$llmc/dev/cuda/common.h" >"$build/common.h"
while read -r program kernel groups size shared arguments; do
  case $program in '' | '#'*) continue ;; esac
  source=$llmc/dev/cuda/$program.cu
  {
    grep '^#define [A-Z]' "$source" || true
    echo '#include "llmc.h"'
    echo '#include "common.h"'
    awk '/^\/\/ (kernel launcher|Launch CUDA)|^int main/ { taken = 0 } /^\/\/ GPU kernels/ { taken = 1 } /^__global__/ && !begun { taken = 1 }
         taken { print; begun = 1 }' "$source"
  } >"$build/$program.cu"
  set --
  for argument in $arguments; do set -- "$@" -a "$argument"; done
  "$bin/miniemu" -I"$build" -I"$here" "$build/$program.cu" -k "$kernel" --grid "$groups" -l "$size" --shared "$shared" "$@" \
    --machine-code gfx942 --no-registers --quiet -o "$results/llmc/$program-gfx942.csv" 2>"$build/$program.err" ||
    echo "$program: $(grep -m1 error "$build/$program.err")" >&2
done <"$here/llmc_amd.txt"
