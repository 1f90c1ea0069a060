# Kernel time with counters over that without, over the suites: the minimal placement in the median at most 1.5, in the
# mean 2, at worst 5; the paper's placement, a counter in every block, beside it. The median of eleven runs each, in
# turns.
# seconds: 100
# lands: bench-suites/measured/counting_DEVICE.csv
. "$SOURCE/tests/gpu/probe.sh"
suites=$SOURCE/bench-suites table=$RESULTS/counting.csv
rm -f "$table"
launches() {
  ls "$suites"/polybench/*.toml
  for size in s1 s4; do for case in $(sh "$suites/cases.sh" list "$suites/shoc" $size); do
    sh "$suites/cases.sh" launch "$suites/shoc" "$case"
  done; done
  [ -z "$OPENCL" ] || ls "$suites"/panwar/*.toml
}
launches >launches
bad=0
while read -r line; do
  status=0
  # shellcheck disable=SC2086  # several words
  flux-count $line $CUDA --backend cuda --emit overhead --quiet >one.csv 2>message </dev/null || status=$?
  case $status in
    0) ;;
    5) continue ;;  # it cannot be given to a device
    *) echo "$line:"; cat message; bad=1; continue ;;
  esac
  if [ -s "$table" ]; then tail -n +2 one.csv; else cat one.csv; fi >>"$table"
done <launches
awk -f "$SOURCE/bench-suites/csv.awk" -f "$SOURCE/tests/gpu/ratios.awk" "$table" || bad=1
exit $bad
