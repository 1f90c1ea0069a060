#!/bin/sh
# Usage: machine_code.sh MINIEMU: a library of machine code alone is named by its file, one of NVIDIA's as such, and the
# application gets an error.
set -eu
miniemu=$1
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "kernelcast-skipped: no nvcc"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
cd "$folder"
cat >kernel.cu <<'end'
__global__ void one(float* x) { x[0] = 1; }
extern "C" int run() {
  float* x = nullptr;
  cudaMalloc(&x, 4);
  one<<<1, 1>>>(x);
  return cudaGetLastError();
}
end
echo 'extern "C" int run(); int main() { return run() == 209 ? 0 : 1; }' >main.cpp
for name in cudnn_nothing own; do
  "$nvcc" -cudart shared -gencode arch=compute_75,code=sm_75 -shared -Xcompiler -fPIC kernel.cu -o "lib$name.so"
  "$nvcc" -cudart shared main.cpp -o app -L. "-l$name" -Xlinker -rpath -Xlinker "$folder"
  "$miniemu" --attach --no-registers -o rows.csv -- ./app >out 2>err || { cat out err; echo "another error"; exit 1; }
  grep -q "^miniemu: lib$name.so holds no PTX, only machine code" err || { cat err; echo "it is not named"; exit 1; }
done
grep -q 'compile it with' err || { cat err; echo "nothing said about how to compile it"; exit 1; }
