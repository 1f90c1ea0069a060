#!/bin/sh
# Counts mixbench's kernels at each arithmetic intensity and writes their kernel rows.
#
#   run.sh MINIEMU DEVDB SOURCES MISSING <measured/mixbench.csv >kernels/mixbench.csv
#
# SOURCES: a checkout of ekondis/mixbench. Of its CUDA and HIP files the kernel is taken, which both write as CUDA does; what
# a case says is compiled in, as mixbench does. The rows of HIP's kernel have AMD's machine code; its halves have none.
# MISSING: gets suite,kernel,case,reason of each launch without a row
set -eu
miniemu=$1 sources=$3 missing=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/mixbench"
for api in cuda hip; do
  {
    if [ $api = cuda ]; then
      echo '#include <cuda_fp16.h>'
    else
      echo '#define hipBlockIdx_x blockIdx.x'
      echo '#define hipThreadIdx_x threadIdx.x'
      echo 'struct half2 { __device__ half2(int) {} };'
      echo '__device__ half2 __hfma2(half2, half2, half2);'
      echo '__device__ bool __hbeq2(half2, half2);'
    fi
    sed -n '/^#define ELEMENTS_PER_THREAD/,/^void initializeEvents/p' "$sources/mixbench-$api/mix_kernels_$api".c* | sed '$d'
    if [ $api = cuda ]; then
      echo 'template __global__ void benchmark_func<TYPE, 256, ELEMENTS_PER_THREAD, FUSION_DEGREE, ITERATIONS, ROLLED>(TYPE, TYPE *);'
    else
      echo 'template __global__ void benchmark_func<TYPE, 256, ELEMENTS_PER_THREAD, ITERATIONS>(TYPE, TYPE *);'
    fi
  } >"$work/mixbench/$api.cu"
done
awk -f "$here/../../../csv.awk" -f "$here/launches.awk" | "$here/../emulate.sh" "$miniemu" "$work/mixbench" "$work" "$missing"
