#!/bin/sh
# Usage: keep.sh PROGRAMS MINIEMU KERNELCAST: launch files of regions of OpenMP and OpenACC that --keep writes; run again,
# each executes what its row has.
set -eu
. "$(dirname "$0")/start.sh"
cat >"$folder/twice.c" <<'END'
enum { n = 300 };
static int table[n];
#pragma omp declare target(table)
int main(void) {
  int x[n], wrong = 0;
  for (int i = 0; i < n; ++i) table[i] = 2 * i, x[i] = 0;
#pragma omp target update to(table)
#pragma omp target teams distribute parallel for num_teams(3) map(tofrom : x)
#pragma acc parallel loop num_gangs(3) copy(x) copyin(table)
  for (int i = 0; i < n; ++i) x[i] += table[i];
  for (int i = 0; i < n; ++i) wrong += x[i] != 2 * i;
  return wrong != 0;
}
END
for model in openmp openacc; do
  compile $model "$folder/$model" "$folder/twice.c" || { echo "kernelcast-skipped: $why"; exit 0; }
  "$miniemu" --attach --no-registers --groups all --keep "$folder/kept-$model" -o "$folder/rows.csv" -- "$folder/$model" \
    >"$folder/out" 2>"$folder/err" || fail "$model: status $?"
  [ ! -s "$folder/err" ] || fail "$model: messages on standard error"
  "$miniemu" --no-registers --groups all "$folder/kept-$model"/launch-*.toml >"$folder/again.csv" 2>"$folder/err" ||
    fail "$model: the launch file: status $?"
  awk -F, '
    FNR == 1 { for (i = 1; i <= NF; ++i) name[i] = $i; next }
    NR == 2 { for (i = 1; i <= NF; ++i) first[i] = $i; next }
    {
      for (i = 1; i <= NF; ++i)
        if (name[i] ~ /^(grid_x|block_x|block_y|inst_|issues_|branches|global_.*_tx|shared_.*_passes|barriers)/) {
          ++compared
          if (first[i] != $i) { print name[i] ": " first[i] " in the rows, " $i " of the launch file"; bad = 1 }
        }
    }
    END { exit bad || compared < 50 }' "$folder/rows.csv" "$folder/again.csv" >"$folder/out" || fail "$model: other rows"
done
