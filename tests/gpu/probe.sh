# What parts that call devprobe share: probe NAME OPTION... measures the first CUDA device into $RESULTS/NAME.csv. Skipped
# where there is none.
set -eu
devprobe --list >list.csv
if ! grep -q '^cuda:0,.*,ok,' list.csv; then
  grep '^cuda:0,' list.csv || echo "no CUDA device"
  exit 77
fi
probe() {
  table=$RESULTS/$1.csv
  shift
  rm -f "$table"
  devprobe --device cuda:0 ${DEVICE:+--name "$DEVICE"} "$@" -o "$table" --quiet
  failed=$(awk -F, 'NR > 1 && index($0, ",failed,")' "$table")
  [ -z "$failed" ] || { echo "failed rows:"; echo "$failed"; exit 1; }
  echo "$(($(wc -l <"$table") - 1)) rows"
}
