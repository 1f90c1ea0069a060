#!/bin/sh
# Counts the launches of the applications that were measured on a Quadro GV100 and writes their kernel rows.
#
#   run.sh MINIEMU DEVDB SOURCES MISSING <measured/qv100_cycles.csv >kernels/qv100_cycles.csv
#
# SOURCES: a folder of the applications as executables, linked with the shared CUDA runtime: NAME, polybench-NAME, and
# cutlass_perf_test; of two micro-benchmarks NAME.cu, whose kernels read behind the arrays that they are given.
# Launches of applications whose launches do not depend on what others compute run with a budget (miniemu --budget).
# MISSING: gets suite,kernel,case,reason of each application without rows
set -eu
miniemu=$1 devdb=$2 sources=$3 missing=$4
here=$(cd "$(dirname "$0")" && pwd)
command -v c++filt >/dev/null || { echo "c++filt is not installed (a part of binutils)" >&2; exit 5; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo suite,kernel,case,reason >"$missing"
first=1
awk -F, 'FNR > 1 && !seen[$5]++ { print $5 }' >"$work/cases"
while IFS= read -r case; do
  application=$case arguments='' options='' seconds=300
  problem=${case#*_}
  case $case in
    convolutionSeparable) arguments='--size 3072' ;;
    cutlass_*)
      application=cutlass_perf_test options='--budget 5000000'
      kernel=${problem%_*} size=${problem##*_}
      m=${size%%x*} k=${size##*x} n=${size#*x}
      arguments="--seed=2020 --dist=0 --m=$m --n=${n%x*} --k=$k --kernels=$kernel --iterations=5 --providers=cutlass"
      ;;
    fastWalshTransform_*) application=${case%%_*} arguments="-logK ${problem%_*} -logD ${problem#*_}" ;;
    mergeSort | scan | sortingNetworks) options='--every launch' ;;      # they differ in their arguments
    polybench-2mm) options='--budget 5000000' seconds=60 ;;               # then it computes on the host for minutes
    scalarProd_* | vectorAdd_*) application=${case%%_*} arguments="--size $problem" ;;
    transpose) arguments='-dimX512 -dimY512' ;;
  esac
  rm -f "$work/rows.csv"
  status=0
  # shellcheck disable=SC2086
  case $case in
    l1_bw_32f | l1_bw_64f)
      real=f${case#l1_bw_} real=${real%f}
      "$miniemu" "$sources/$case.cu" -k l1_bw --grid 1 -l 1024 -a buf:u32:1024:zero -a buf:u32:1024:zero -a "buf:$real:1024:zero" \
        -a "buf:$real:32768:random" --quiet --timeout "$seconds" -o "$work/rows.csv"
      ;;
    *)
      timeout -k 10 "$seconds" "$miniemu" --attach --quiet --as v100 --devdb "$devdb" --groups 8 $options --timeout "$seconds" \
        --max-memory 6GB -o "$work/rows.csv" -- "$sources/$application" $arguments
      ;;
  esac >"$work/output" 2>"$work/errors" </dev/null || status=$?
  [ "$case" != polybench-2mm ] || status=0
  if [ -s "$work/rows.csv" ] && [ "$status" = 0 ]; then
    # Names without types and parameters.
    tail -n +2 "$work/rows.csv" | cut -d, -f1 | c++filt |
      sed 's/.*gemm_kernel_nolb.*/gemm_kernel_nolb/; s/^void //; s/(.*//; s/<\([0-9]*\)u>/<\1>/' >"$work/names"
    awk -f "$here/../../../csv.awk" -f "$here/../label.awk" label="$case" kernels="$work/names" first=$first "$work/rows.csv"
    first=0
  else
    echo "qv100_cycles,total,$case,\"status $status: $(sed -n 's/"/ /g; 1p' "$work/errors")\"" >>"$missing"
  fi
done <"$work/cases"
