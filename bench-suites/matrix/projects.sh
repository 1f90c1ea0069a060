#!/bin/sh
# Programs of other projects, each with a check of its results, run on the emulator.
# Usage: projects.sh SOURCES BIN RESULTS: writes RESULTS/projects.csv (project,program,target,device,status,s) and of each program
# RESULTS/projects/NAME.csv, records of miniemu, and RESULTS/projects/NAME/app, which is not compiled again.
# Kernels are as they are. ThunderKittens' programs multiply matrices of 512 x 512, in every configuration that they have. DeepGEMM
# and FlashAttention-3 are called from PyTorch: deepgemm.cu and flash3.cu call their kernels in its place.
set -eu
sources=$1 bin=$2 results=$3
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=run.sh
. "$here/run.sh"
build=$results/projects
mkdir -p "$build"
echo project,program,target,device,status,s >"$results/projects.csv"
compile() { # NAME, TARGET, PROJECT, SOURCE: into $build/NAME/app
  mkdir -p "$build/$1"
  flags="-O1 -cudart shared --expt-relaxed-constexpr --expt-extended-lambda -DNDEBUG"
  case $3 in
    ThunderKittens)
      tree=$sources/ThunderKittens
      case $2 in sm_90a) unit=HOPPER ;; *) unit=BLACKWELL ;; esac
      # Beside the source, which includes others by their place.
      source=$tree/$4_small.cu
      sed 's/N = [0-9]*;/N = 512;/; s/= 4096/= 512/g' "$tree/$4.cu" >"$source"
      flags="$flags -std=c++20 --use_fast_math -DKITTENS_$unit -I$tree/include -I$tree/prototype"
      ;;
    CUTLASS)
      tree=$sources/cutlass source=$sources/cutlass/$4.cu
      flags="$flags -std=c++17 -I$tree/include -I$tree/tools/util/include -I$tree/examples/common -I$(dirname "$source")"
      ;;
    DeepGEMM) source=$here/$4.cu flags="$flags -std=c++20 -I$sources/DeepGEMM/deep_gemm/include -I$sources/cutlass/include" ;;
    *) source=$here/$4.cu flags="$flags -std=c++17 -I$sources/flash-attention/hopper -I$sources/cutlass/include" ;;
  esac
  # shellcheck disable=SC2086  # several flags
  nvcc $flags -gencode "arch=compute_${2#sm_},code=compute_${2#sm_}" -o "$build/$1/app" "$source" \
    -L"$(dirname "$(command -v nvcc)")/../lib64/stubs" -lcuda >"$build/$1/log" 2>&1
}
# Whether all checks of the output have passed: there is one, errors are below a hundredth of the values, and no word says otherwise.
passed() {
  awk '/Passed|\[OK\]/ { seen = 1 } /Failed|CUDA error|\[--\]/ { bad = 1 } /Error count:/ { seen = 1; if ($3 > 0) bad = 1 }
       /abs mean:/ { scale = $3 } /err mean:/ { seen = 1; if (!($3 < scale / 100)) bad = 1 } END { exit !(seen && !bad) }' "$1"
}
while read -r name target device project source arguments; do
  case $name in '' | '#'*) continue ;; esac
  if [ ! -x "$build/$name/app" ] && ! compile "$name" "$target" "$project" "$source"; then
    echo "$project,$name,$target,$device,does not compile," >>"$results/projects.csv"
    continue
  fi
  # shellcheck disable=SC2086  # several arguments
  run "$device" "$build/$name" "$build/$name/app" $arguments
  if [ $status = 0 ] && passed "$build/$name/out"; then
    text=ok
  else
    text=$(failure "$build/$name" "of its PTX\|rror\|Failed" 's/.*of its PTX: //')
  fi
  echo "$project,$name,$target,$device,$text,$seconds" >>"$results/projects.csv"
done <"$here/projects.txt"
