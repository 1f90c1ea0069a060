#!/bin/sh
# intervals.sh MANGROVE MEASURED TREES: how often the interval holds what was measured, and how wide it is (the median ratio
# of its ends), without and with calibration.
set -eu
mangrove=$1 measured=$2 trees=$3
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
echo data,scheme,calibrate,samples,covered_pct,median_width
for data in aiwc neusight tunehub; do
  for scheme in "10-fold:--split random" "leave-kernel-out:--leave-out kernel"; do
    for folds in 0 5; do
      # shellcheck disable=SC2086
      "$mangrove" validate --features "$measured/${data}_features.csv" --targets "$measured/${data}_times.csv" \
        --max-per-kernel 0 --trees "$trees" --calibrate $folds --emit predictions ${scheme#*:} |
        awk -f ../../csv.awk -f report/intervals.awk | sort -g -k 2 >"$rows"
      awk -v what="$data,${scheme%%:*},$folds" '{ covered += $1; width[NR] = $2 }
        END { printf "%s,%d,%.0f,%.3g\n", what, NR, 100 * covered / NR, width[int((NR + 1) / 2)] }' "$rows"
    done
  done
done
