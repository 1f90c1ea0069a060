#!/bin/sh
# chain.sh BIN RESULTS TREES: features of polybench's kernels by flux-count, times by akemu on five devices, and how well a
# forest predicts a device or a kernel that it has not seen, also with perfcast's time as a feature. The truth is a model's:
# this is the error of the chain alone.
set -eu
bin=$1 out=$2/chain trees=$3
devices=v100,a100,p100,gtx1080,rtx2080ti
mkdir -p "$out"
for name in 2dconv 2mm 3dconv 3mm adi atax bicg corr covar doitgen fdtd2d gemm gemver gesummv; do
  file=../polybench/$name.toml
  "$bin/flux-count" "$file" --quiet --emit features -o "$out/$name.features.csv"
  "$bin/miniemu" "$file" --quiet --groups first -o "$out/$name.kernels.csv"
  "$bin/perfcast" --quiet --device $devices "$out/$name.kernels.csv" -o "$out/$name.panwar.csv"
  "$bin/miniemu" "$file" --quiet --groups first --emit trace | "$bin/akemu" --quiet --device $devices -o "$out/$name.ake.csv"
done
for record in features panwar ake; do awk 'FNR > 1 || NR == 1' "$out"/*."$record".csv >"$out/all.$record"; done
echo held out,features,samples,mape_pct,median_pct,covered_pct
one="--device-feature peak_fp32_flop_per_s,peak_bandwidth_bytes_per_s,compute_units"
for group in device kernel; do
  for stack in "" "--stack $out/all.panwar"; do
    # shellcheck disable=SC2086
    "$bin/mangrove" validate --quiet --features "$out/all.features" --targets "$out/all.ake" --trees "$trees" \
      --leave-out $group --cuts log --objective relative $one $stack |
      awk -F, -v group=$group -v what="counts${stack:+ and perfcast}" '
        NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
        { printf "%s,%s,%d,%.1f,%.1f,%.0f\n", group, what, $at["samples"], $at["mape_pct"], $at["median_pct"], $at["coverage_pct"] }'
  done
done
