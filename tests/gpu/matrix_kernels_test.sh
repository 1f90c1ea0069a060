# nvcc compiles every micro-benchmark of NVIDIA's matrix units for its target, and their program runs on the emulator, where
# the operations are those that are declared. Usage: matrix_kernels_test.sh BIN SOURCE
set -eu
bin=$1 source=$2
command -v nvcc >/dev/null || { echo "kernelcast-skipped: no nvcc"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
count=0
sh "$source/tests/gpu/matrix_kernels.sh" "$source" >"$folder/kernels"
while read -r name flop target; do
  nvcc -std=c++17 -gencode "arch=compute_${target#sm_},code=[$target,compute_${target#sm_}]" -cudart shared -DSMALL "-DPRODUCT_$name" -o "$folder/rates" "$source/tests/gpu/matrix_rates.cu"
  total=$("$bin/miniemu" --attach --quiet --groups all --no-registers -o "$folder/k.csv" -- "$folder/rates" "$flop" 2>"$folder/log" | cut -d, -f3)
  counted=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next } { sub(".*:", "", $at["matrix_flop"]); print $at["matrix_flop"] }' "$folder/k.csv")
  [ "$total" = "$counted" ] || { echo "$name: $counted operations, declared are $total"; exit 1; }
  count=$((count + 1))
done <"$folder/kernels"
[ "$count" = 18 ] || { echo "$count kernels"; exit 1; }
