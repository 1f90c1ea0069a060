#!/bin/sh
# train.sh MANGROVE DATA RESULTS SEED: a forest for each device of the data, RESULTS/forests/DATA-DEVICE.json.
set -eu
mangrove=$1 data=$2 results=$3 seed=$4
mkdir -p "$results/forests"
awk -f ../csv.awk -f report/devices.awk "$results/$data.targets.csv" | while read -r device; do
  # shellcheck disable=SC2046
  "$mangrove" train --quiet --features "$(sh report/field.sh "$data" features)" --targets "$results/$data.targets.csv" \
    --device "$device" --max-per-kernel 0 --seed "$seed" $(sh report/field.sh "$data" options) \
    -o "$results/forests/$data-$device.json"
done
