#!/bin/sh
# rankings.sh BIN MEASURED TREES SEEDS: for AIWC, how often forests pick the fastest of eleven GPUs and what they lose,
# beside the trivial rankings. Means over the seeds, with the least and the greatest.
set -eu
bin=$1 measured=$2 trees=$3 seeds=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gpus=$(awk -F, '$2 == "gpu" { printf "%s%s", sep, $1; sep = "," }' "$measured/aiwc_devices.csv")
awk -F, -v gpus="$gpus" 'BEGIN { split(gpus, g); for (i in g) is[g[i]] = 1 } NR == 1 || $4 in is' \
  "$measured/aiwc_times.csv" >"$work/times.csv"
one="--cuts log --devices $measured/aiwc_devices.csv --device-feature peak_fp32_gflops,peak_bw_gbs"
for scheme in "10-fold:--split random" "leave-kernel-out:--leave-out kernel"; do
  for variant in "paper:" "relative+log cuts:--objective relative --cuts log" "one forest:$one" \
    "one forest, sqrt:$one --max-features sqrt" "one forest, ratio:$one --target-form ratio"; do
    for seed in $(seq 0 $((seeds - 1))); do
      # shellcheck disable=SC2086
      "$bin/mangrove" validate --features "$measured/aiwc_features.csv" --targets "$work/times.csv" --max-per-kernel 0 \
        --trees "$trees" --seed "$seed" --calibrate 0 --emit predictions ${scheme#*:} ${variant#*:} >"$work/predictions.csv"
      "$bin/rank" --quiet --measured "$work/times.csv" --summary "$work/predictions.csv" >"$work/summary.csv"
      awk -v scheme="${scheme%%:*}" -v variant="${variant%%:*}" -f ../../csv.awk -f report/ranking_rows.awk \
        "$work/summary.csv" >>"$work/rows"
    done
  done
done
awk -F';' -f report/rankings.awk "$work/rows"
