#!/bin/sh
# rankings.sh BIN MEASURED TREES SEEDS: for AIWC, how often forests pick the fastest of eleven GPUs, beside the trivial
# rankings. Means over the seeds.
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
    "one forest, sqrt:$one --max-features sqrt"; do
    for seed in $(seq 0 $((seeds - 1))); do
      # shellcheck disable=SC2086
      "$bin/mangrove" validate --features "$measured/aiwc_features.csv" --targets "$work/times.csv" --max-per-kernel 0 \
        --trees "$trees" --seed "$seed" --calibrate 0 --emit predictions ${scheme#*:} ${variant#*:} >"$work/predictions.csv"
      "$bin/rank" --quiet --measured "$work/times.csv" --summary "$work/predictions.csv" | tail -n +2 |
        sed "s/^/${scheme%%:*};${variant%%:*};/" >>"$work/rows"
    done
  done
done
"$bin/rank" --quiet --measured "$work/times.csv" --summary "$work/predictions.csv" | sed -n '1s/^/scheme,variant,/p'
# Columns are model, cases, then numbers; the trivial rankings are the same for all.
awk '{ split($0, part, ";"); n = split(part[3], cell, ","); name = part[2]; scheme = part[1]
       if (cell[1] ~ /^trivial/) { name = "-"; scheme = "-" }
       key = scheme ";" name ";" cell[1]
       if (!(key in count)) order[++keys] = key
       ++count[key]
       for (i = 2; i <= n; ++i) { sum[key, i] += cell[i]; if (cell[i] == "") gone[key, i] = 1 }
       width = n }
     END { for (k = 1; k <= keys; ++k) {
       key = order[k]; split(key, part, ";")
       printf "%s,\"%s\",%s", part[1], part[2], part[3]
       for (i = 2; i <= width; ++i) printf gone[key, i] ? "," : ",%.1f", sum[key, i] / count[key]
       print "" } }' "$work/rows"
