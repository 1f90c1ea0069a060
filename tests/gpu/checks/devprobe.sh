# The whole probe of a CUDA device: no benchmark fails; the database takes its row, its curves and its latencies, and
# perfcast and akemu project from them; copies and peaks are within 10 % of what cudaMemcpy and cuBLAS reach. curves.csv,
# device.csv and latgap.csv stay in $RESULTS, to be put into devdb. DEPTH is quick, normal (default) or thorough.
# seconds: 80
. "$SOURCE/tests/gpu/probe.sh"
case ${DEPTH:-normal} in
  normal) depth= ;;
  *) depth=--$DEPTH ;;
esac
rm -f "$RESULTS/curves.csv"
# shellcheck disable=SC2086  # none or one
devprobe --device cuda:0 $depth -o "$RESULTS/curves.csv" --quiet
cp "$RESULTS/curves.csv" .
value() { awk -F, -v metric="$1" -v what="$2" '$3 == metric && index($0, what) && $9 > best { best = $9 } END { print best + 0 }' curves.csv; }
failed=$(awk -F, 'NR > 1 && index($0, ",failed,")' curves.csv)
[ -z "$failed" ] || { echo "failed rows:"; echo "$failed"; exit 1; }

# Into a database of its own, and back out of it by the models.
slug=$(awk -F, 'NR == 2 { print $1 }' curves.csv)
cp -r "$SOURCE/devdb" db
chmod -R u+w db
devprobe --summary --from curves.csv >device.csv
if ! cut -d, -f1 db/devices.csv | grep -qx "$slug"; then tail -n 1 device.csv >>db/devices.csv; fi
cp curves.csv "db/curves/$slug.csv"
devprobe --check db --from curves.csv >differences.csv || [ $? = 1 ]
akemu --devdb db --device "$slug" --calibrate curves.csv >latgap.csv
for class in fp32_fma fp64 int_add int_mul shift logic sfu cvt smem_load gmem_load_l2 gmem_load_dram; do
  grep -q ",$class," latgap.csv || { echo "no latency of $class"; exit 1; }
done
tail -n +2 latgap.csv >>db/latgap.csv
workload=$SOURCE/bench-suites/shoc/reduction.toml
# shellcheck disable=SC2086  # none or two words
miniemu "$workload" --set s1 $CUDA -k reduce --groups first --quiet | perfcast --devdb db --device "$slug" >projected.csv
grep -q ',ok,.*,curve' projected.csv || { echo "perfcast does not use the curve:"; cat projected.csv; exit 1; }
# shellcheck disable=SC2086
miniemu "$workload" --set s1 $CUDA -k reduce --groups first --quiet --emit trace | akemu --devdb db --device "$slug" >emulated.csv
grep -q ',ok,' emulated.csv || { echo "akemu does not project:"; cat emulated.csv; exit 1; }
cp device.csv latgap.csv differences.csv "$RESULTS/"

# Against other code.
if ! command -v nvcc >/dev/null; then
  echo "$(wc -l <curves.csv) rows; nothing to compare them with: there is no nvcc"
  exit 0
fi
nvcc -O2 -o peaks "$SOURCE/tests/gpu/peaks.cu" -lcublas
./peaks >peaks.csv
status=0
summary=
compare() {
  theirs=$(awk -F, -v what="$1" '$1 == what { print $2 }' peaks.csv)
  ratio=$(awk -v ours="$2" -v theirs="$theirs" 'BEGIN { printf "%.3f", ours / theirs }')
  summary="$summary $1 $ratio"
  awk -v r="$ratio" 'BEGIN { exit !(r > 0.9 && r < 1.1) }' || { echo "$1: $2, other code $theirs: $ratio"; status=1; }
}
compare h2d "$(value copy_bandwidth_bytes_per_s ',h2d pinned,')"
compare d2h "$(value copy_bandwidth_bytes_per_s ',d2h pinned,')"
compare fp32 "$(value peak_flop_per_s ',fp32,fma,')"
compare fp64 "$(value peak_flop_per_s ',fp64,fma,')"
echo "$slug, $(wc -l <curves.csv) rows, ratios to other code:$summary"
exit $status
