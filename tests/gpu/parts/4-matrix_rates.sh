# Rates of the matrix units by microbench/matrix: none is above what devdb/matrix.csv states of the architecture, nor below
# half of it.
# seconds: 60
# lands: bench-suites/measured/matrix_rates_DEVICE.csv
. "$SOURCE/tests/gpu/probe.sh"
table=$RESULTS/matrix_rates.csv
command -v nvcc >/dev/null || { echo "no nvcc"; exit 77; }
clock=$(nvidia-smi --query-gpu=clocks.max.sm --format=csv,noheader,nounits | head -n 1)
here=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
echo "name,target,units,flop,flop_per_s,flop_per_cycle,stated" >"$table"
sh "$SOURCE/tests/gpu/matrix_kernels.sh" "$SOURCE" >kernels
bad=0
while read -r name flop target; do
  least=$(echo "$target" | tr -dc 0-9)
  case $target in
    *a) [ "$least" = "$here" ] || continue ;;
    *) [ "$least" -le "$here" ] || continue; target=sm_$here ;;
  esac
  if ! nvcc -O3 -gencode "arch=compute_${target#sm_},code=$target" "-DPRODUCT_$name" -o rates \
    "$SOURCE/tests/gpu/matrix_rates.cu" || ! ./rates "$flop" >one; then
    echo "$name was not measured"
    bad=1
    continue
  fi
  kind=$(echo "$name" | sed 's,^wmma$,mma/f16/f32,' | tr _ /)
  stated=$(awk -F, -v target="sm_$here" -v kind="$kind" '
    { of = 0; n = split($1, targets, ";"); for (i = 1; i <= n; ++i) of = of || targets[i] == target
      n = split($2, kinds, ";"); for (i = 1; i <= n && of; ++i) if (kinds[i] == kind) rate = $3 }
    END { print rate + 0 }' "$SOURCE/devdb/matrix.csv")
  awk -F, -v OFS=, -v name="$name" -v clock="$clock" -v stated="$stated" \
    '{ print name, $1, $2, $3, $4, $4 / ($2 * clock * 1e6), stated }' one >>"$table"
done <kernels
awk -F, 'NR > 1 && $7 > 0 && ($6 > 1.1 * $7 || $6 < 0.5 * $7) { print $1 ": " $6 " operations a clock, stated are " $7; bad = 1 } END { exit bad }' "$table" || bad=1
echo "$(($(wc -l <"$table") - 1)) products"
exit $bad
