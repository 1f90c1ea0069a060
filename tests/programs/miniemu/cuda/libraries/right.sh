#!/bin/sh
# Usage: right.sh MINIEMU PROGRAM CASE: the program finds what it reckons itself, with OpenBLAS and without.
set -eu
miniemu=$1 program=$2 case=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
for blas in 1 0; do
  status=0
  KERNELCAST_OPENBLAS=$blas "$miniemu" --attach --no-registers -o "$folder/rows.csv" -- "$program" "$case" \
    >"$folder/out" 2>"$folder/err" || status=$?
  cat "$folder/out" "$folder/err"
  grep -qx "right: $case" "$folder/out" || { echo "wrong results"; exit 1; }
  case $case in
    out_of_bounds)
      grep -qE '(cublasSgemm: A|cufftExecC2C: input|curandGenerateUniform: the output) .* does not lie in the memory of the device' "$folder/err"
      grep -qE '(cublasSgelsBatched is not in the cuBLAS|cufftXtSetCallback is not in the cuFFT|the cuRAND) of the emulator' "$folder/err" ;;
    *) [ $status = 0 ] || { echo "exit status $status"; exit 1; } ;;
  esac
done
