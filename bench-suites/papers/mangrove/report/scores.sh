#!/bin/sh
# scores.sh MANGROVE MEASURED SEEDS TREES STUDIES ROWS: a row for each study. Each is kept in the folder ROWS, so that a run
# that was interrupted goes on; one that is older than the program is done again.
set -eu
mangrove=$1 measured=$2 seeds=$3 trees=$4 studies=$5 rows=$6
mkdir -p "$rows"
echo data,scheme,variant,seeds,mape_pct,mape_least_pct,mape_greatest_pct,median_pct,coverage_pct,extrapolated_pct
tail -n +2 "$studies" | while IFS=, read -r data scheme variant options; do
  row=$rows/$(echo "$data.$scheme.$variant.$seeds.$trees" | tr ' ' _).$(echo "$options" | cksum | cut -d ' ' -f 1)
  if [ -z "$(find "$row" -newer "$mangrove" 2>/dev/null)" ]; then
    # shellcheck disable=SC2086
    sh report/study.sh "$mangrove" "$measured" "$seeds" "$trees" "$data" "$scheme" "$variant" $options >"$row.part"
    mv "$row.part" "$row"
  fi
  cat "$row"
done
