#!/bin/sh
# Whole programs, copies and all, against what others measured on machines that they name, as Markdown.
#   programs.sh BIN DEVDB
set -eu
bin=$1 devdb=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step() { awk -f ../csv.awk -f programs.awk -v what="$@"; }
step list programs/times.csv >"$work/list"
echo "| program | version | device | measured, ms | projected, ms | ratio | interval, ms | kernels alone, ms |"
echo "|---|---|---|---|---|---|---|---|"
while read -r program version device measured; do
  rows=programs/${program}_$version
  "$bin/perfcast" --quiet --devdb "$devdb" --device "$device" "$rows.kernels.csv" -o "$work/times.csv"
  "$bin/rank" --quiet --devdb "$devdb" --total --commands "$rows.commands.csv" "$work/times.csv" -o "$work/total.csv"
  step row -v program="$program" -v version="$version" -v measured="$measured" -v kernels="$(step sum "$work/times.csv")" \
    "$work/total.csv"
done <"$work/list" >"$work/table"
cat "$work/table"
step close "$work/table"
