#!/bin/sh
# page.sh SOURCE: kernelcast-sweeps(7) has the recipes of bench-suites/clusters as they are, each between ``` lines.
set -eu
cd "$1"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
awk -v folder="$folder" '/^```/ { inside = !inside; number += inside; next }
  inside { gsub(/\\\\/, "\\"); print >(folder "/" number) }' man/kernelcast-sweeps.7.scd
status=0
for recipe in sweep.toml parallel.sh Snakefile array.sbatch; do
  for text in "$folder"/*; do
    cmp -s "$text" "bench-suites/clusters/$recipe" && continue 2
  done
  echo "man/kernelcast-sweeps.7.scd has another text than bench-suites/clusters/$recipe"
  status=1
done
exit $status
