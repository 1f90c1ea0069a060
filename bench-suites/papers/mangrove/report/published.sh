#!/bin/sh
# published.sh MANGROVE PUBLISHED TREES PREDICTIONS NESTED: time and power on K80 and T4 from what the authors published (solution/measurements/*.db
# of UniHD-CEG/gpu-mangrove-tutorial, in the folder PUBLISHED): each configuration, and each kernel, predicted by the others.
# Predictions of power, each configuration by the others, go to the file PREDICTIONS, folds of nested cross-validation of power to
# NESTED.
set -eu
mangrove=$1 published=$2 trees=$3 predictions=$4 nested=$5
: >"$predictions"
: >"$nested"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flux=$published/cuda_flux_metrics.db
sqlite3 -separator '|' "$flux" "select app || ':' || name, dataset || '.' || lseq, metric, value from fluxmetrics" |
  awk -f report/published_features.awk >"$work/features.csv"
echo target,device,held_out,samples,mape_pct,median_pct,within_5_pct,within_10_pct,constant_mape_pct
for device in K80 T4; do
  for target in time_s power_w; do
    name=${target%_*}
    value="m.$name"
    [ "$name" = power ] || value="m.time / 1e6"  # microseconds
    { echo "kernel,case,device,$target"
      sqlite3 -csv "$published/kernel_${name}_$device.db" "attach '$flux' as f;
        select k.app || ':' || k.name, k.dataset || '.' || k.lseq, '$device', $value from kernel$name m join
        (select distinct app, dataset, lseq, name from f.fluxmetrics) k using (app, dataset, lseq)"
    } >"$work/targets.csv"
    [ $target = time_s ] || "$mangrove" validate --quiet --nested --features "$work/features.csv" --targets "$work/targets.csv" \
      --target power_w --max-per-kernel 0 | if [ -s "$nested" ]; then tail -n +2; else cat; fi >>"$nested"
    for scheme in "configuration:--leave-one-out" "kernel:--leave-out kernel"; do
      # shellcheck disable=SC2086
      "$mangrove" validate --quiet --features "$work/features.csv" --targets "$work/targets.csv" --target $target \
        --max-per-kernel 0 --trees "$trees" --calibrate 0 --emit predictions ${scheme#*:} >"$work/predictions.csv"
      [ "$target ${scheme%%:*}" != "power_w configuration" ] ||
        if [ -s "$predictions" ]; then tail -n +2; else cat; fi <"$work/predictions.csv" >>"$predictions"
      awk -f ../../csv.awk -f report/median.awk -v target=$target -v device=$device -v scheme="${scheme%%:*}" -f report/published_errors.awk "$work/predictions.csv"
    done
  done
done
