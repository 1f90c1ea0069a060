# A program compiled by flux-clang++ with the static runtime counts its own launches.
# seconds: 10
set -eu
command -v nvcc >/dev/null || { echo "no nvcc"; exit 77; }
[ -x "$BIN/flux-clang++" ] || { echo "built without LLVM"; exit 77; }
toolkit=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
flux-clang++ -O2 -x cuda --cuda-path="$toolkit" --cuda-gpu-arch=sm_75 --cuda-include-ptx=sm_75 -w \
  "$SOURCE/tests/programs/flux-count/apps/saxpy.cu" -o app -L"$toolkit/lib64" -lcudart_static -ldl -lrt -pthread >log 2>&1 ||
  { tail -n 3 log; echo "clang 19 does not compile with this toolkit"; exit 77; }
KERNELCAST_FLUX_OUTPUT=$PWD/rows ./app >words || { cat words; echo "no device"; exit 77; }
[ "$(awk -F, 'FNR > 1 { print $3 }' rows.* | sort -u | wc -l)" = 6 ]
[ "$(awk -F, '$3 == 2 && $4 == "st.global.f32" { print $5 }' rows.*)" = 1000 ]
echo "six launches of a program with the static runtime are counted"
