#!/bin/sh
# snakemake.sh SOURCE BIN: the recipe for Snakemake, interrupted as by Ctrl-C, killed with all of its jobs when run again, and
# run to its end. The rows are those of one run, and the parts that were done do not run a second time.
command -v snakemake >/dev/null || { echo "kernelcast-skipped: Snakemake is not installed"; exit 0; }
. "$(dirname "$0")/common.sh"

done_parts() {  # are so many
  set -- "$1" parts/*.csv
  [ -e "$2" ] && [ $(($# - 1)) = "$1" ]
}

close_gate 2
start_session snakemake --cores 2
await "a part that is held" held 1
await "two parts that are done" done_parts 2
interrupt_session
check_interrupted

open_gate
close_gate 2
start_session snakemake --cores 2
await "a part that is held" held 1
await "four parts that are done" done_parts 4
kill_session
check_interrupted
[ ! -e rows.csv ] || fail "rows.csv is there before all parts are"

interrupted=$(held_parts)
open_gate
snakemake --unlock >>"$folder/log" 2>&1
snakemake --cores 2 >"$folder/last.log" 2>&1
check_rows
# shellcheck disable=SC2086  # several numbers
check_resumed $interrupted
[ "$(grep -c '^rule part:' "$folder/last.log")" = 4 ] || fail "other parts were run than the four that were missing"
head -n 1 ranking.csv | grep -q '^model,kernel,device,rank,case,' || fail "ranking.csv: $(head -n 3 ranking.csv)"
