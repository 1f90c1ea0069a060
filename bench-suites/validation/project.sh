#!/bin/sh
# Projections of a suite's kernels by every model, on the devices that it was measured on, as one table.
#   project.sh PERFCAST DEVDB SUITE LAUNCH_S
set -eu
perfcast=$1 devdb=$2 suite=$3 launch_s=$4
kernels=kernels/$suite.csv
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
devices=$(awk -f ../csv.awk -f devices.awk "measured/$suite.csv")
clock=$(awk -F, -v suite="$suite" '$1 == suite { print $2 }' suites.csv)
common() { awk -f ../csv.awk -f common.awk "$@"; }
project() {
  "$perfcast" --quiet --devdb "$devdb" --device "$devices" --clock "$clock" "$@" "$kernels" -o "$rows"
}
echo kernel,case,device,model,time_s,time_low_s,time_high_s,limiter,status,reason
launch() { awk -F, -v suite="$suite" "$@" -f launch.awk suites.csv launches.csv; }
caches=$(awk -f ../csv.awk -f caches.awk "measured/$suite.csv")
project --launch-cost "$(launch)" --caches "$caches"
common "$rows"
if [ "$(grep -c "^$suite," launches.csv)" -gt 1 ]; then
  project --launch-cost "$(launch -v others=1)" --caches "$caches"
  common -v suffix="+others' launches" "$rows"
fi
project --model panwar
common "$rows"
project --model panwar --launch-cost "$launch_s"
common -v suffix=+launches "$rows"
project --model trivial
common "$rows"
if [ -e "akemu/$suite.csv" ]; then
  common "akemu/$suite.csv"
  common -v suffix=+launches -v launch_s="$launch_s" "$kernels" "akemu/$suite.csv"
fi
