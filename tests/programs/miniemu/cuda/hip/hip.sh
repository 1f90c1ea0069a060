#!/bin/sh
# A program in HIP, compiled by kernelcast-hipcc, on the emulator. Usage: hip.sh BIN APP.hip
set -eu
bin=$1 app=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
compile() { "$bin/kernelcast-hipcc" "$@" 2>"$folder/messages"; }
if ! { command -v nvcc || [ -x /usr/local/cuda/bin/nvcc ]; } >"$folder/found"; then
  status=0
  compile "$app" -o "$folder/app" || status=$?
  [ $status = 5 ] && grep -q 'there is no nvcc' "$folder/messages"
  echo "kernelcast-skipped: no nvcc"
  exit
fi
compile -O2 --offload-arch=gfx90a -std=c++17 -Wall -munsafe-fp-atomics -c "$app" -o "$folder/app.o" || { cat "$folder/messages"; exit 1; }
compile -fopenmp "$folder/app.o" -lhipblas -lamdhip64 -o "$folder/app" || { cat "$folder/messages"; exit 1; }
for device in mi250x:64 rx7900xtx:32 a100:32; do
  "$bin/miniemu" --attach --as ${device%:*} -o "$folder/rows.csv" -- "$folder/app" >"$folder/out" || { cat "$folder/out"; exit 1; }
  grep -qx "0 failures, warps of ${device#*:}" "$folder/out"
done
for kernel in sums votes hipblas; do
  name=$kernel
  [ $kernel != hipblas ] || name=cublasSgemm
  grep -q "$name" "$folder/rows.csv" || { echo "no row of $name"; exit 1; }
done
# AMD's GPUs need no port of it, and those of NVIDIA run it, too.
"$bin/kernelcast" choose --device mi250x --device a100 --files "$folder/files" -- "$folder/app" >"$folder/answer"
grep -q '^ [12]  mi250x' "$folder/answer" && ! grep -q 'is ported' "$folder/answer"
head -n 2 "$folder/files/commands.csv" | grep -q ',hip$\|,hip,'
grep -q 'run as a100, mi300x' "$folder/answer"

# AMD's own compiler makes machine code of the sources that the program names.
mkdir "$folder/include"
printf 'constexpr int factor = 3;\n' >"$folder/include/factor.h"
cat >"$folder/scale.hip" <<'TEXT'
#include <hip/hip_runtime.h>
#include "factor.h"
__global__ void scale(double2* x, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i].y = x[i].x * factor + EXTRA;
}
int main() {
  double2* x;
  hipMalloc((void**)&x, 16 * 4096);
  hipLaunchKernelGGL(scale, dim3(16), dim3(256), 0, 0, x, 4096);
  return hipDeviceSynchronize();
}
TEXT
(cd "$folder" && compile -O2 -Iinclude -D EXTRA=1.5 scale.hip -o scale)
targets() { awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "target") at = i; next } { print $at }' "$1" | tr '\n' ' '; }
"$bin/miniemu" --attach --as mi250x --machine-code ptx --machine-code gfx90a -o "$folder/rows.csv" -- "$folder/scale" 2>"$folder/messages"
found=$(targets "$folder/rows.csv")
if [ "$found" = ' ' ]; then
  grep -q 'AMD.s headers of HIP are not installed\|AMD.s device libraries of HIP are not installed' "$folder/messages"
  echo "no machine code of AMD's: $(head -n 1 "$folder/messages") (make deps-hip)"
else
  [ "$found" = ' gfx90a ' ] || { cat "$folder/messages"; exit 1; }
fi

# A source beside an object, with the language said.
printf 'int one() { return 1; }\n' >"$folder/one.cpp"
printf '#include <hip/hip_runtime.h>\nint one();\nint main() { return one() - 1; }\n' >"$folder/main.hip"
compile -x hip -c "$folder/one.cpp" -o "$folder/one.o"
compile -x hip "$folder/main.hip" "$folder/one.o" -Wl,-rpath,"$folder" -o "$folder/two" && "$folder/two"

printf '#include <rocblas/rocblas.h>\nint main() {}\n' >"$folder/roc.hip"
! compile "$folder/roc.hip" -o "$folder/roc" && grep -q 'rocBLAS has no counterpart' "$folder/messages"
status=0
compile "$app" -lrocblas -o "$folder/app" || status=$?
[ $status = 5 ] && grep -q -- '-lrocblas' "$folder/messages"
status=0
compile || status=$?
[ $status = 2 ]
[ "$(find "$folder/cache/kernelcast/hip" -name runtime.h | wc -l)" = 1 ]  # the list of names is made once
