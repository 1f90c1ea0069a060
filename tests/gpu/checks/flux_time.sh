# Kernel time with counters over that without, over the suites: the minimal placement in the median at most 1.5, in the
# mean 2, at worst 5; the paper's placement, a counter in every block, beside it. The median of eleven runs each, in
# turns.
set -eu
for launches in "$SOURCE"/bench-suites/polybench/*.toml "$SOURCE"/bench-suites/shoc/opencl/*.toml \
  "$SOURCE"/bench-suites/panwar/*.toml; do
  case $launches in */polybench/small/* | *_small.toml) continue ;; esac
  status=0
  flux-count "$launches" --backend cuda --emit overhead --quiet >one.csv 2>words || status=$?
  if [ $status = 5 ] && grep -q "no CUDA driver\|does not start\|no CUDA device" words; then
    head -n 1 words
    exit 77
  fi
  [ $status = 0 ] || { [ $status = 5 ] && continue; } || { echo "$launches:"; cat words; exit 1; }
  { [ -e times.csv ] && tail -n +2 one.csv || cat one.csv; } >>times.csv
done
cat times.csv
awk -f "$SOURCE/bench-suites/panwar/report/csv.awk" -f "$SOURCE/tests/gpu/ratios.awk" times.csv
