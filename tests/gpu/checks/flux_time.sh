# Kernel time with counters over that without, over the suites: the minimal placement in the median at most 1.5, in the
# mean 2, at worst 5; the paper's placement, a counter in every block, beside it. The median of eleven runs each, in
# turns.
set -eu
suites=$SOURCE/bench-suites
for launches in "$suites"/polybench/*.toml "$suites"/panwar/*.toml \
  $(for size in s1 s2 s3 s4; do sh "$suites/cases.sh" list "$suites/shoc" $size; done); do
  case $launches in *.toml) ;; *) launches=$(sh "$suites/cases.sh" launch "$suites/shoc" "$launches") ;; esac
  status=0
  # shellcheck disable=SC2086  # several words
  flux-count $launches --backend cuda --emit overhead --quiet >one.csv 2>words || status=$?
  if [ $status = 5 ] && grep -q "no CUDA driver\|does not start\|no CUDA device" words; then
    head -n 1 words
    exit 77
  fi
  [ $status = 0 ] || { [ $status = 5 ] && continue; } || { echo "$launches:"; cat words; exit 1; }
  { [ -e times.csv ] && tail -n +2 one.csv || cat one.csv; } >>times.csv
done
cat times.csv
awk -f "$SOURCE/bench-suites/csv.awk" -f "$SOURCE/tests/gpu/ratios.awk" times.csv
