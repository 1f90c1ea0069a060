#!/bin/sh
# chain.sh MANGROVE FEATURES TIMES PROJECTIONS TREES: how well forests predict devices, kernels and suites that they have
# not seen, from counts alone and with another model's projections as a feature. The times are a model's, too: this is the
# error of the chain alone.
set -eu
mangrove=$1 features=$2 times=$3 projections=$4 trees=$5
echo held_out,features,samples,mape_pct,median_pct,covered_pct
one="--device-feature peak_fp32_flop_per_s,peak_bandwidth_bytes_per_s,compute_units"
for group in device kernel suite; do
  for stack in "" "--stack $projections"; do
    # shellcheck disable=SC2086
    "$mangrove" validate --quiet --features "$features" --targets "$times" --trees "$trees" --max-per-kernel 0 \
      --leave-out $group --cuts log --objective relative $one $stack |
      awk -v group=$group -v what="counts${stack:+ and perfcast}" -f ../../csv.awk -f report/chain.awk
  done
done
