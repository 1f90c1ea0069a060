#!/bin/sh
# make fuzz: runs the targets of tests/fuzz for so many seconds each, and adds the run to what was done before.
#
#   run.sh BUILD-FOLDER SECONDS [TARGET…]
#
# BUILD-FOLDER/corpus/TARGET   what was found, kept from run to run; the tree's corpus is read besides. Another folder in
#                              its place: FUZZ_CORPUS
# BUILD-FOLDER/fuzz.csv        target,executions,seconds,crashes,slowest_ms,peak_mb over all runs since it was removed
# BUILD-FOLDER/TARGET-crash-*  (-timeout-, -oom-) an input that failed: with its fix it goes into tests/fuzz/corpus
# BUILD-FOLDER/TARGET.slowest  the input that took most CPU time; TARGET.log, what libFuzzer printed in the last run
#
# Exit status 1 where a target failed; the others run all the same.
set -u
tree=$(cd "$(dirname "$0")/../.." && pwd)
build=$1 seconds=$2
corpora=${FUZZ_CORPUS:-$build/corpus}
shift 2
totals=$build/fuzz.csv
failed=0

[ -f "$totals" ] || echo target,executions,seconds,crashes,slowest_ms,peak_mb >"$totals"

# The last figure that libFuzzer printed under a name; 0 where it did not come to that.
figure() {
  awk -v name="stat::$1:" '$1 == name { value = $2 } END { print value + 0 }' "$log"
}

# Executions as of the last line of progress, for a target that died.
executions() {
  awk '/^#[0-9]+[: \t]/ { n = substr($1, 2) + 0; if (n > most) most = n }
       $1 == "stat::number_of_executed_units:" { if ($2 > most) most = $2 } END { print most + 0 }' "$log"
}

add() {  # several runs may share a folder, each with its targets
  exec 9>"$build/fuzz.lock" && flock 9
  awk -F, -v OFS=, -v t="$1" -v n="$2" -v s="$3" -v c="$4" -v ms="$5" -v mb="$6" '
    $1 == t { $2 += n; $3 += s; $4 += c; if (ms + 0 > $5 + 0) $5 = ms; if (mb + 0 > $6 + 0) $6 = mb; found = 1 }
    { print }
    END { if (!found) print t, n, s, c, ms, mb }' "$totals" >"$totals.new" && mv "$totals.new" "$totals"
  exec 9>&-
}

while read -r target mutator corpus; do
  if [ $# -gt 0 ]; then
    case " $* " in *" $target "*) ;; *) continue ;; esac
  fi
  mkdir -p "$corpora/$target"
  log=$build/$target.log
  slowest=$build/$target.run
  rm -f "$slowest" "$slowest.ms"
  dictionary=$tree/tests/fuzz/$mutator.dict
  [ -f "$dictionary" ] || dictionary=
  echo "$target: $seconds s" >&2
  begin=$(date +%s)
  status=0
  # shellcheck disable=SC2086  # a corpus is several folders
  KERNELCAST_FUZZ_SLOWEST=$slowest "$build/bin/${target}_fuzz" -max_total_time="$seconds" -max_len=4096 \
    -timeout=20 -rss_limit_mb=512 ${dictionary:+-dict="$dictionary"} -artifact_prefix="$build/$target-" \
    -print_final_stats=1 -close_fd_mask=2 "$corpora/$target" $corpus >"$log" 2>&1 || status=$?
  ms=0
  [ -f "$slowest.ms" ] && read -r ms <"$slowest.ms"
  known=$(awk -F, -v t="$target" '$1 == t { print $5 }' "$totals")
  awk -v a="$ms" -v b="${known:-0}" 'BEGIN { exit !(a > b) }' && mv "$slowest" "$build/$target.slowest"
  rm -f "$slowest" "$slowest.ms"
  add "$target" "$(executions)" $(($(date +%s) - begin)) $((status != 0)) "$ms" "$(figure peak_rss_mb)"
  if [ $status != 0 ]; then
    failed=1
    grep -E "ERROR|SUMMARY|runtime error|Test unit written" "$log" >&2
  fi
done <"$build/fuzz_targets.txt"
cat "$totals"
exit $failed
