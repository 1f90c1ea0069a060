#!/bin/sh
# Usage: vary.sh PROGRAMS MINIEMU KERNELCAST: a program of OpenACC and one of OpenMP with several values of a variable of
# their environment: a case and columns for each run, the same rows in parts, and after an interruption.
set -eu
programs=$1 miniemu=$2 kernelcast=$3 bin=$(dirname "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
. "$programs/compile.sh"
cd "$folder"
fail() { echo "$1"; cat out err ./*.csv 2>/dev/null | cut -c 1-200; exit 1; }
# The columns that are named, of each row.
cells() {
  awk -F, -v names="$2" 'BEGIN { n = split(names, want, " ") }
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    { for (k = 1; k <= n; ++k) printf "%s%s", $at[want[k]], k < n ? " " : "\n" }' "$1"
}
vary() { status=0; "$miniemu" --attach --no-registers "$@" >>out 2>>err || status=$?; }

cat >sum.c <<'END'
#include <stdio.h>
enum { n = 4096 };
static float x[n];
int main(void) {
  double sum = 0;
  for (int i = 0; i < n; ++i) x[i] = i % 8;
#pragma acc parallel loop reduction(+ : sum) copyin(x)
  for (int i = 0; i < n; ++i) sum += x[i];
  printf("%g\n", sum);
  return sum != 3.5 * n;
}
END
compile openacc "$folder/sum" "$folder/sum.c" || { echo "kernelcast-skipped: $why"; exit 0; }
vary --vary GOMP_OPENACC_DIM=16,32,64 -o acc.csv -- ./sum
[ $status = 0 ] || fail "OpenACC: status $status"
[ "$(cells acc.csv 'grid_x GOMP_OPENACC_DIM case' | tr '\n' ';')" = \
  "16 16 GOMP_OPENACC_DIM=16;32 32 GOMP_OPENACC_DIM=32;64 64 GOMP_OPENACC_DIM=64;" ] ||
  fail "OpenACC: other gangs, cases or columns"
[ "$(sort -u out)" = 14336 ] || fail "what the program prints is lost"
# In parts, one of them interrupted: its last case is run again.
vary --vary GOMP_OPENACC_DIM=16,32,64 --shard 0/2 -o part0.csv -- ./sum
vary --vary GOMP_OPENACC_DIM=16,32,64 --shard 1/2 -o part1.csv -- ./sum
"$kernelcast" merge --parts 2 part0.csv part1.csv -o merged.csv
cmp acc.csv merged.csv || fail "parts put together are not the sweep"
head -n 3 acc.csv >begun.csv
vary --vary GOMP_OPENACC_DIM=16,32,64 --resume begun.csv -o begun.csv -- ./sum
cmp acc.csv begun.csv || fail "a sweep that goes on has other rows"
"$bin/perfcast" --device a100 acc.csv >projections.csv
"$bin/rank" --total --configurations projections.csv >order.csv
[ "$(cells order.csv rank | wc -l)" = 3 ] || fail "not three cases in order"

cat >teams.c <<'END'
#include <stdio.h>
#include <stdlib.h>
enum { n = 512 };
int main(int argc, char** argv) {
  int x[n], wrong = 0, teams = argc > 1 ? 0 : atoi(getenv("TEAMS"));
#pragma omp target teams distribute parallel for num_teams(teams ? teams : 1) map(from : x) if (teams)
  for (int i = 0; i < n; ++i) x[i] = i;
#pragma omp target teams distribute parallel for num_teams(2) map(tofrom : x) if (teams)
  for (int i = 0; i < n; ++i) x[i] += 1;
#pragma omp target teams distribute parallel for map(tofrom : x) if (!teams)
  for (int i = 0; i < n; ++i) x[i] += 1;
  for (int i = 0; i < n; ++i) wrong += x[i] != i + 2;
  return teams == 7 ? 7 : wrong;
}
END
compile openmp "$folder/teams" "$folder/teams.c" || { echo "kernelcast-skipped: $why"; exit 0; }
vary --vary TEAMS=2,4 --vary OMP_TEAMS_THREAD_LIMIT=32,64 -o teams.csv -- ./teams
[ $status = 0 ] || fail "OpenMP: status $status"
# Of the first region, whose line is that of its directive or, by newer compilers, of its loop.
[ "$(cells teams.csv 'kernel grid_x TEAMS OMP_TEAMS_THREAD_LIMIT' | sed -n 's/^main:[67] //p' | tr '\n' ';')" = \
  "2 2 32;2 2 64;4 4 32;4 4 64;" ] || fail "OpenMP: other teams or combinations"
"$bin/perfcast" --device a100 teams.csv | "$bin/rank" --total --each-kernel >each.csv
[ "$(cells each.csv 'case kernel' | sort -u | wc -l)" = 8 ] || fail "not two regions in each of four cases"
vary --vary TEAMS=2,7,4 -o ended.csv -- ./teams
[ $status = 7 ] || fail "status $status of a run that fails"
[ "$(cells ended.csv TEAMS | sort -u)" = 2 ] || fail "the rows of runs before the one that failed are lost"

# From GCC 13 on libgomp takes it to the device: so many teams of the launch work, the others end at once.
"$compiler" -dumpversion | awk -F. '{ exit $1 < 13 }' || { echo "passed; OMP_NUM_TEAMS_DEV needs GCC 13"; exit 0; }
vary --vary OMP_NUM_TEAMS_DEV=2,64 --groups all -o gomp.csv -- ./teams host
[ "$(cells gomp.csv grid_x | sort -u | wc -l)" = 1 ] || fail "OMP_NUM_TEAMS_DEV: another launch"
[ "$(cells gomp.csv inst_total | sort -u | wc -l)" = 2 ] || fail "OMP_NUM_TEAMS_DEV: the same work"
echo "passed"
