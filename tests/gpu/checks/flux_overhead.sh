# What attaching costs an application of 40,000 short launches: at most 20 microseconds for each.
# seconds: 15
set -eu
command -v nvcc >/dev/null || { echo "no nvcc"; exit 77; }
nvcc -gencode arch=compute_75,code=compute_75 -cudart shared -o launches "$SOURCE/tests/gpu/launches.cu"
./launches 1 >/dev/null || { echo "no device"; exit 77; }
alone=$(./launches 40000)
attached=$(flux-count --attach --emit features -o rows.csv -- ./launches 40000)
awk -v a="$alone" -v b="$attached" 'BEGIN {
  extra = (b - a) / 40000
  printf "%.2f microseconds alone, %.2f attached, %.2f extra per launch\n", a / 40000, b / 40000, extra
  exit extra > 20
}'
