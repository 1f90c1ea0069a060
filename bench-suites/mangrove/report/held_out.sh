#!/bin/sh
# held_out.sh MANGROVE DATA RESULTS SEED OPTION…: predictions of what is held out, by forests with the shipped ones' options.
set -eu
mangrove=$1 data=$2 results=$3 seed=$4
shift 4
options=$(sh report/field.sh "$data" options | sed 's/--calibrate-by [^ ]*//')
# shellcheck disable=SC2086
"$mangrove" validate --quiet --features "$(sh report/field.sh "$data" features)" --targets "$results/$data.targets.csv" \
  --max-per-kernel 0 --calibrate 0 --seed "$seed" $options --emit predictions "$@"
