#!/bin/sh
# Examples of CUTLASS, each with its own check against a reference, run on the emulator.
# Usage: cutlass.sh CUTLASS BIN RESULTS: writes RESULTS/cutlass.csv (program,target,status,s), RESULTS/cutlass/NAME.csv, records
# of miniemu, and RESULTS/cutlass/NAME/*.ptx. A program that is there already is not compiled again.
set -eu
cutlass=$1 bin=$2 results=$3
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=run.sh
. "$here/run.sh"
build=$results/cutlass
mkdir -p "$build"
echo program,target,status,s >"$results/cutlass.csv"
# NAME, target, device, example, arguments
while read -r name target device example arguments; do
  case $name in '' | '#'*) continue ;; esac
  if [ ! -x "$build/$name/app" ]; then
    mkdir -p "$build/$name"
    # The check is that of the example, in the sizes that are given; the types of 15 are others than its own.
    source=$cutlass/examples/$example.cu
    case $name in
      15_*_f16) a=cutlass::half_t sum=float deep=64 k=32 ;;
      15_*_s8) a=int8_t sum=int32_t deep=128 k=64 ;;
      15_*_tf32) a=float sum=float deep=32 k=16 ;;
      *) a= ;;
    esac
    if [ -n "$a" ]; then
      sed "s/cutlass::int4b_t/$a/; s/using ElementAccumulator = int32_t/using ElementAccumulator = $sum/
           s/using ElementOutput = int32_t/using ElementOutput = $sum/; s/128, 128, 256>/128, 128, $deep>/
           s/64, 64, 256>/64, 64, $deep>/; s/16, 8, 128>/16, 8, $k>/" "$source" >"$build/$name/app.cu"
    else
      cp "$source" "$build/$name/app.cu"
    fi
    nvcc -O1 -std=c++17 -cudart shared -gencode "arch=compute_${target#sm_},code=compute_${target#sm_}" --expt-relaxed-constexpr \
      -I"$cutlass/include" -I"$cutlass/tools/util/include" -I"$cutlass/examples/common" -I"$(dirname "$source")" \
      --keep --keep-dir "$build/$name" -o "$build/$name/app" "$build/$name/app.cu" -L"$(dirname "$(command -v nvcc)")/../lib64/stubs" -lcuda >"$build/$name/log" 2>&1 ||
      { echo "$name,$target,does not compile," >>"$results/cutlass.csv"; continue; }
    find "$build/$name" -type f ! -name '*.ptx' ! -name app ! -name log -delete
  fi
  # shellcheck disable=SC2086  # several arguments
  run "$device" "$build/$name" "$build/$name/app" $arguments
  if [ $status = 0 ] && grep -q "Passed" "$build/$name/out" && ! grep -q "Failed" "$build/$name/out"; then
    text=ok
  else
    text=$(failure "$build/$name" "cannot be executed\|rror\|Failed" 's/.*cannot be executed/cannot be executed/')
  fi
  echo "$name,$target,$text,$seconds" >>"$results/cutlass.csv"
done <"$here/cutlass.txt"
