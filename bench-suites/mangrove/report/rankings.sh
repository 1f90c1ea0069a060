#!/bin/sh
# rankings.sh BIN MEASURED TREES: for AIWC, how often forests pick the fastest of eleven GPUs for kernels never seen,
# beside the trivial rankings.
set -eu
bin=$1 measured=$2 trees=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gpus=$(awk -F, '$2 == "gpu" { printf "%s%s", sep, $1; sep = "," }' "$measured/aiwc_devices.csv")
awk -F, -v gpus="$gpus" 'BEGIN { split(gpus, g); for (i in g) is[g[i]] = 1 } NR == 1 || $4 in is' \
  "$measured/aiwc_times.csv" >"$work/times.csv"
head=header
for scheme in "10-fold:--split random" "leave-kernel-out:--leave-out kernel"; do
  for variant in "paper:" "relative+log cuts:--objective relative --cuts log"; do
    # shellcheck disable=SC2086
    "$bin/mangrove" validate --features "$measured/aiwc_features.csv" --targets "$work/times.csv" --max-per-kernel 0 \
      --trees "$trees" --emit predictions ${scheme#*:} ${variant#*:} >"$work/predictions.csv"
    "$bin/rank" --quiet --measured "$work/times.csv" --summary "$work/predictions.csv" |
      awk -F, -v scheme="${scheme%%:*}" -v variant="${variant%%:*}" -v head=$head '
        NR == 1 { if (head != "") print "scheme,variant," $0; next } { print scheme "," variant "," $0 }'
    head=
  done
done
