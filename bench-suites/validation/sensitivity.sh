#!/bin/sh
# Scores of the default model with other constants (sensitivity), or with parts of it left out (ablation), as Markdown.
#   sensitivity.sh sensitivity|ablation BIN DEVDB MEASURED SUITE...
set -eu
what=$1 bin=$2 devdb=$3 measured=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
csv() { awk -f ../csv.awk "$@"; }
# score SUITES OPTION...: median error in percent, bias and the part within a factor of 1.5, the mean over the suites
score() {
  suites=$1
  shift
  for suite in $suites; do
    clock=$(awk -F, -v suite="$suite" '$1 == suite { print $2 }' suites.csv)
    cost=--launch-cost=$(awk -F, -v suite="$suite" -f launch.awk suites.csv launches.csv)
    case " $* " in *" --launch-cost="*) cost= ;; esac
    # shellcheck disable=SC2086
    "$bin/perfcast" --quiet --devdb "$devdb" --device "$(csv -f devices.awk "measured/$suite.csv")" \
      --clock "$clock" --caches "$(csv -f caches.awk "measured/$suite.csv")" $cost "$@" "kernels/$suite.csv" -o "$work/$suite.csv"
  done
  (cd "$work" && for suite in $suites; do echo "$suite.csv"; done) >"$work/list"
  # shellcheck disable=SC2046
  "$bin/rank" --quiet --devdb "$devdb" --measured "$measured" --scores --by suite $(sed "s,^,$work/," "$work/list") -o "$work/scores"
  csv -f sensitivity.awk "$work/scores"
}
suites=$*
if [ "$what" = ablation ]; then
  echo "| without | median error, % | bias, % | within 1.5, % |"
  echo "|---|---|---|---|"
  while IFS='|' read -r name options; do
    # shellcheck disable=SC2086
    echo "| $name | $(score "$suites" $options) |"
  done <<'PARTS'
– (the whole model)|
launches|--launch-cost=0
what starts cold|--constant code_s=1e-15 --constant ramp_s=1e-15
a norm of stations: the largest alone|--constant norm=64
capacity of caches: they hold everything|--constant cache_part=1e6
caches: they hold nothing|--constant cache_part=1e-9
lines that are fetched in part|--constant line_part=1e9
look-ups of the second-level cache|--constant sectors_per_lookup=1e-9
turns of atomics|--constant atomic_same_cycles=1e-9 --constant atomic_line_cycles=1e-9
all of it: the model of [panwar]|--model=panwar --launch-cost=0
PARTS
  exit
fi
echo "| constant | value | unit | source | median error, %: a fifth less | as it is | a fifth more |"
echo "|---|---|---|---|---|---|---|"
now=$(score "$suites")
"$bin/perfcast" --constants | csv -f constants.awk | while IFS='|' read -r name value less more unit source; do
  a=$(score "$suites" --constant "$name=$less")
  b=$(score "$suites" --constant "$name=$more")
  echo "| $name | $value | $unit | $source | ${a%% *} | ${now%% *} | ${b%% *} |"
done
