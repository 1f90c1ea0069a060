#!/bin/sh
# parallel.sh SOURCE BIN: the recipe for GNU parallel, killed in its middle with all of its jobs, and run again. The rows are
# those of one run, and the parts that were done do not run a second time.
command -v parallel >/dev/null && parallel --version 2>/dev/null | grep -q '^GNU parallel' ||
  { echo "kernelcast-skipped: GNU parallel is not installed"; exit 0; }
. "$(dirname "$0")/common.sh"

close_gate 2
start_session ./parallel.sh
two_are_done() { [ "$(grep -c miniemu parts/joblog)" = 2 ]; }
await "a part that is held" held 1
await "two parts that are done" two_are_done
kill_session
check_interrupted
[ ! -e rows.csv ] || fail "rows.csv is there before all parts are"

interrupted=$(held_parts)
open_gate
./parallel.sh
[ "$(grep -c miniemu parts/joblog)" = 8 ] || fail "the log has other jobs than one for each part: $(cat parts/joblog)"
check_rows
# shellcheck disable=SC2086  # several numbers
check_resumed $interrupted
