#!/bin/sh
# study.sh MANGROVE MEASURED SEEDS TREES DATA SCHEME VARIANT OPTION…
# One row: MAPE and median error over SEEDS seeds, each the mean over the devices, with the least and greatest seed.
set -eu
mangrove=$1 measured=$2 seeds=$3 trees=$4 data=$5 scheme=$6 variant=$7
shift 7
# Blanks separate columns of --feature and --device-feature in studies.csv, where commas separate cells.
options=$(echo "$*" | sed -E ':a; s/(--(device-)?feature [^-]*[^ -]) ([^-])/\1,\3/; ta')
case $options in
  *--device-feature*) options="$options --devices $measured/${data}_devices.csv" ;;
esac
# shellcheck disable=SC2086
"$mangrove" validate --features "$measured/${data}_features.csv" --targets "$measured/${data}_times.csv" \
  --max-per-kernel 0 --trees "$trees" --calibrate 0 --iterations "$seeds" $options |
  awk -F, -v data="$data" -v scheme="$scheme" -v variant="$variant" -v seeds="$seeds" '
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    { s = $at["iteration"]; n[s]++; mape[s] += $at["mape_pct"]; median[s] += $at["median_pct"]
      covered += $at["coverage_pct"]; rows++; samples += $at["samples"]; odd += $at["extrapolated"] }
    END {
      low = 1e300
      for (s in n) {
        m = mape[s] / n[s]; all += m; med += median[s] / n[s]; ++k
        if (m < low) low = m
        if (m > high) high = m
      }
      printf "%s,%s,%s,%d,%.1f,%.1f,%.1f,%.1f,%.0f,%.0f\n", data, scheme, variant, seeds, all / k, low, high, med / k, covered / rows, 100 * odd / samples
    }'
