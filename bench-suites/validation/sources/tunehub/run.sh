#!/bin/sh
# Counts the measured configurations of tunehub's kernels and writes their kernel rows: of the suites tunehub, tunehub_amd and
# tunehub_geforce.
#
#   run.sh MINIEMU DEVDB SOURCES MISSING <measured/SUITE.csv >kernels/SUITE.csv
#
# SOURCES: a checkout of the repository that the kernels were tuned from; for tunehub_geforce that with the times, which has
#   its kernels, too
# MISSING: gets suite,kernel,case,reason of each configuration without a row
set -eu
miniemu=$1 devdb=$2 sources=$3/cache_scripts hub=$3/currently_unused/kernels missing=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/measured.csv"
suite=$(sed -n '2s/,.*//p' "$work/measured.csv")
mkdir "$work/$suite"
if [ "$suite" = tunehub_geforce ]; then
  cp "$hub/convolution.cu" "$work/$suite"
  cat "$hub/gemm/common.opencl" "$hub"/gemm/xgemm_part[123].opencl >"$work/$suite/gemm.cl"
else
  cp "$sources/convolution/convolution.cu" "$work/$suite/convolution_milo.cu"
  # Where a factor is 0, as in all of these, kernel_tuner takes the pragma out.
  sed '/#pragma *unroll *loop_unroll_factor_channel/d' "$sources/dedisp/dedispersion.cu" >"$work/$suite/dedispersion_milo.cu"
fi
# What dedispersion.py gives as its delays, as bytes of float: a number from 1 to 2 and a power of 2.
# shellcheck disable=SC2059
printf "$(awk 'BEGIN {
  for (c = 0; c < 1536; ++c) {
    m = 4148.808 * (1 / (1425 + 0.1953125 * c) ^ 2 - 1 / (1425 + 0.1953125 * 1535) ^ 2) / 0.00004096
    for (e = 127; m >= 2; ++e) m /= 2
    for (; m > 0 && m < 1; --e) m *= 2
    bits = m > 0 ? e * 8388608 + int((m - 1) * 8388608 + 0.5) : 0
    printf "\\%03o\\%03o\\%03o\\%03o", bits % 256, int(bits / 256) % 256, int(bits / 65536) % 256, int(bits / 16777216)
  } }')" >"$work/delays"
# AMD's devices get rows of their machine code.
targets=$(awk -f "$here/../../../csv.awk" -f "$here/../amd_targets.awk" "$work/measured.csv" "$devdb/devices.csv")
{ read -r header; echo "$header"; LC_ALL=C sort -t , -k 4,4 -k 5,5V -u; } <"$work/measured.csv" | awk -f "$here/../../../csv.awk" -f "$here/launches.awk" -v delays="$work/delays" -v targets="$targets" |
  "$here/../emulate.sh" "$miniemu" "$work/$suite" "$sources/dedisp" "$missing"
