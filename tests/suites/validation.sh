#!/bin/sh
# validation.sh TREE BIN DATABASE: the split is the one that was written once, every measured program is in it, no constant
# names a program that is held out, and the scores are made from the committed rows and show each suite.
set -eu
tree=$1 bin=$2 devdb=$3
suite=$tree/bench-suites/validation
fail() { echo "$*" >&2; exit 1; }

cd "$suite"
sha256sum split.csv | grep -q '^489edca1baa837f3a97e64458fe7040270857ff73a093e441e59f4a614ef0552 ' || fail "split.csv is not the frozen one"
awk -f ../csv.awk -f split.awk split.csv | cmp - split.csv || fail "split.csv is not what split.awk makes"

# Constants of models and figures of the database say what they were chosen on as "chosen on: SUITE/PROGRAM, …".
awk -F, '$3 == "held" { print $1 "/" $2 }' split.csv |
  while read -r held; do
    if grep -rnF "$held" "$tree/libcore/models" "$tree/libcore/records" "$tree/devdb"; then
      fail "a constant names $held, which is held out"
    fi
  done

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
make -s BIN="$bin" DEVDB="$devdb" RESULTS="$results" >"$results/log" 2>&1 || { cat "$results/log"; fail "make failed"; }
for kernels in kernels/*.csv; do
  name=$(basename "$kernels" .csv)
  grep -q "^panwar,suite,$name," "$results/chosen/scores.csv" || awk -F, -v suite="$name" \
    '$1 == suite && $3 == "chosen" { found = 1 } END { exit found }' split.csv || fail "no scores of $name"
done

# Intervals and ratios of the database are those of this data and of the models as they are.
for table in intervals ratios; do
  make -s BIN="$bin" DEVDB="$devdb" RESULTS="$results" "$results/chosen/residuals/$table.csv" >"$results/log" 2>&1 ||
    { cat "$results/log"; fail "make failed"; }
  awk -f ../csv.awk -f intervals_differ.awk "$devdb/$table.csv" "$results/chosen/residuals/$table.csv" ||
    fail "devdb/$table.csv is of other data or of other models: make -C bench-suites/validation intervals"
done
for model in trivial:roofline trivial:constant order:peak_flops order:random; do
  grep -q "^$model,suites,mean," "$results/chosen/scores.csv" || fail "no scores of $model"
done
