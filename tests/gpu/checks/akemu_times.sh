# akemu's projections beside measured kernel times, kernel by kernel, with simulated caches and without: the mean
# absolute error is at most 20 %, the correlation of the times' logarithms at least 0.95. WORKLOADS replaces the
# cases, LIMIT the limit, DEVICE is the device's id where its name does not say it; the tables are akemu_times.md and akemu_times_no_cache.md in $RESULTS, or in the working
# directory.
# seconds: 60
set -eu
[ -n "${OPENCL-yes}" ] || { echo "no clang-19, which compiles OpenCL C"; exit 77; }
results=${RESULTS:-.}
workloads=${WORKLOADS:-$(sh "$SOURCE/tests/gpu/workloads.sh")}
status=0
launch_of() { sh "$SOURCE/bench-suites/cases.sh" launch "$SOURCE/bench-suites/${1%/*}" "${1#*/}"; }
launches=$(for workload in $workloads; do launch_of "$workload"; done)
# shellcheck disable=SC2086  # a list
"$BIN/gpu_kernel_times" --caches program ${DEVICE:+--device "$DEVICE"} "$SOURCE/devdb" $launches >"$results/measured.csv" || status=$?
if [ $status = 77 ]; then
  cat "$results/measured.csv"
  exit 77
fi
[ $status = 0 ] || exit $status
device=$(awk -F, 'NR == 2 { print $5 }' "$results/measured.csv")
: >"$results/simulated.csv"
: >"$results/none.csv"
for workload in $workloads; do
  launch=$(launch_of "$workload")
  # shellcheck disable=SC2086  # several words
  "$BIN/miniemu" $launch --quiet --emit trace --groups resident:32 |
    "$BIN/akemu" --launch-cost 0 --devdb "$SOURCE/devdb" --device "$device" --warm >>"$results/simulated.csv"
  # shellcheck disable=SC2086
  "$BIN/miniemu" $launch --quiet --emit trace --groups first |
    "$BIN/akemu" --launch-cost 0 --devdb "$SOURCE/devdb" --device "$device" --no-cache >>"$results/none.csv"
done
report() {
  awk -f "$SOURCE/bench-suites/csv.awk" -f "$SOURCE/tests/gpu/times.awk" -v limit="$3" \
    "$results/measured.csv" "$results/$1.csv" >"$results/$2.md"
}
report none akemu_times_no_cache 1e9
report simulated akemu_times "${LIMIT:-20}" || status=1
cat "$results/akemu_times.md"
exit $status
