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
"$bin/miniemu" --attach --as a100 -o "$folder/rows.csv" -- "$folder/app" >"$folder/out"
cat "$folder/out"
grep -qx '0 failures' "$folder/out"
for kernel in sums votes hipblas; do
  name=$kernel
  [ $kernel != hipblas ] || name=cublasSgemm
  grep -q "$name" "$folder/rows.csv" || { echo "no row of $name"; exit 1; }
done
# AMD's GPUs need no port of it, and those of NVIDIA run it, too.
"$bin/kernelcast" choose --device mi250x --device a100 --files "$folder/files" -- "$folder/app" >"$folder/answer"
grep -q '^ [12]  mi250x' "$folder/answer" && ! grep -q 'is ported' "$folder/answer"
head -n 2 "$folder/files/commands.csv" | grep -q ',hip$\|,hip,'

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
