# run.sh on parts that measure nothing: what fits the budget runs in order, each is reported, tables of parts that fail or
# take too long survive, and errors on the command line are those of the programs; what the real parts state adds up.
# Usage: run_test.sh SOURCE
set -u
source=$(cd "$1" && pwd)
run=$source/tests/gpu/run.sh
cd "$(mktemp -d)" || exit 2
trap 'rm -rf "$PWD"' EXIT
fail() { echo "run_test.sh: $*" >&2; exit 1; }

part() {  # FILE SECONDS LANDS COMMAND
  printf '# seconds: %s\n%s%s\n' "$2" "${3:+# lands: $3
}" "$4" >"fake/$1"
}
mkdir -p fake/parts fake/checks
# shellcheck disable=SC2016  # what the part expands
{
  part parts/2-good.sh 5 devdb/curves/DEVICE.csv 'printf "a,b\\n1,2\\n" >"$RESULTS/good.csv"; echo 3 rows'
  part parts/1-slow.sh 1 bench-suites/measured/slow_DEVICE.csv 'printf "a,b\\n1,2\\n" >"$RESULTS/slow.csv"; sleep 60; echo late'
  part parts/3-broken.sh 5 measured/broken.csv 'printf "a,b\\n1,2\\n" >"$RESULTS/broken.csv"; echo no clock; exit 1'
  part parts/4-absent.sh 5 measured/absent.csv 'echo "no CUDA device"; exit 77'
  part checks/last.sh 5 '' '[ -z "$(ls)" ] && echo an empty folder'
  part checks/long.sh 5000 '' 'echo never'
}
export PARTS="$PWD/fake"

"$run" --list >list || fail "--list"
printf '%s\n' part,seconds,lands slow,1,bench-suites/measured/slow_DEVICE.csv good,5,devdb/curves/DEVICE.csv \
  broken,5,measured/broken.csv absent,5,measured/absent.csv last,5, long,5000, | diff - list || fail "the order of --list"

DEVICE=h100 "$run" --budget 100 --out results >out 2>err && fail "a part failed: status 1"
[ -s err ] && fail "$(cat err)"
grep -v '^  ' out | sed 's/([0-9]* s)/(N s)/; s/, [0-9]* s are left/, N s are left/' >lines
cat >expected <<END
FAILED   slow (N s): ended after 3 s; what it had measured is kept
ok       good (N s): 3 rows
FAILED   broken (N s)
skipped  absent (N s): no CUDA device
ok       last (N s): an empty folder
skipped  long: takes 5000 s, N s are left
to land: cp $PWD/results/slow.csv $source/bench-suites/measured/slow_h100.csv
to land: tail -n +2 $PWD/results/good.csv >>$source/devdb/curves/h100.csv
to land: cp $PWD/results/broken.csv $source/measured/broken.csv
END
diff expected lines || fail "the report"
grep -q '^         no clock' out || fail "why a part failed: $(cat out)"
for table in slow good broken; do [ "$(tail -n 1 results/$table.csv)" = 1,2 ] || fail "the table of $table"; done

# Chosen parts; the budget is that of all of them.
"$run" --out chosen checks good >out || fail "nothing failed: $(cat out)"
[ "$(sed 's/ (.*//; s/:.*//' out | tr '\n' ' ')" = "ok       good ok       last skipped  long to land " ] ||
  fail "chosen parts: $(cat out)"
"$run" --budget 4 --out little good >out || fail "nothing failed: $(cat out)"
grep -q '^skipped  good: takes 5 s, [34] s are left' out || fail "a part that does not fit: $(cat out)"

refused() {  # what the message says, the arguments
  message=$1
  shift
  "$run" "$@" >out 2>err
  [ $? = 2 ] || fail "$*: status 2"
  grep -q "$message" err || fail "$*: $(cat err)"
  grep -q '^hint: ' err || fail "$*: no hint"
}
refused "no part 'goood'" goood
refused "no option '--bugdet'" --bugdet 3
refused "not a number of seconds" --budget 2m
refused "has no value" --out

# The real ones.
unset PARTS
"$run" --list >list || fail "--list"
awk -F, 'NR > 1 { if ($2 !~ /^[0-9]+$/) { print $1 " states no seconds"; bad = 1 } sum += $2 }
  END { if (sum > 720) { print "all take " sum " s, beyond the 720 of the budget"; bad = 1 } exit bad }' list || fail "seconds"
exit 0
