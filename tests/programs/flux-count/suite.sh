#!/bin/sh
# `make counts` of a suite: every kernel of its launch files has counts and features, and counters cost little: issue
# slots with over without at most 1.15 in the median and 1.6 at worst, which is a count and no measurement.
# Usage: suite.sh BIN SOURCE SUITE RESULTS
set -eu
bin=$1 suite=$2/bench-suites/$3 results=$4
rm -rf "$results"
make -s -C "$suite" counts BIN="$bin" RESULTS="$results" >"$results.log" 2>&1 || { cat "$results.log"; exit 1; }
awk -F, -v name="$3" '
  FILENAME ~ /counts.csv/ && FNR > 1 { counted[$1] = 1; if ($7 != "ok") { print "not counted: " $0; bad = 1 } }
  FILENAME ~ /features.csv/ && FNR > 1 { featured[$1] = 1; if ($5 == "") { print "no features: " $0; bad = 1 } }
  FILENAME ~ /overhead.csv/ && FNR > 1 { kernels[$1] = 1; ratio[++n] = $9 + 0; if ($9 == "") { print "no overhead: " $0; bad = 1 } }
  END {
    for (k in kernels) if (!(k in counted) || !(k in featured)) { print "kernel " k " is missing"; bad = 1 }
    for (i = 2; i <= n; ++i) for (j = i; j > 1 && ratio[j - 1] > ratio[j]; --j) { t = ratio[j]; ratio[j] = ratio[j - 1]; ratio[j - 1] = t }
    median = (ratio[int((n + 1) / 2)] + ratio[int(n / 2) + 1]) / 2
    printf "%s: %d configurations, median %.3f, worst %.3f\n", name, n, median, ratio[n]
    exit bad || n == 0 || median > 1.15 || ratio[n] > 1.6
  }' "$results/counts/counts.csv" "$results/counts/features.csv" "$results/counts/overhead.csv"
