#!/bin/bash
# projects.sh BIN: ways in which projects call their compiler. Each program prints what it prints when clang-19 builds
# it, and where the kernel is in it, the loop of the kernel has its trips in the profile.
set -eu
bin=$1
command -v clang-19 >/dev/null || { echo "kernelcast-skipped: no clang-19"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/a b"
cd "$work/a b"
export PATH=$bin:$PATH
unset SEQPROF_KERNEL SEQPROF_REGION SEQPROF_OTHERS

cat >solve.h <<'C'
double solve(double *x, int n);
int scale(int n);
C
cat >'solve it.c' <<'C'
#include "solve.h"
double solve(double *x, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += x[i] * scale(i);
  return s;
}
C
cat >scale.c <<'C'
#include "solve.h"
int scale(int n) { return 3 * n; }
C
cat >unused.c <<'C'
int found_nowhere(void);
int unused(void) { return found_nowhere(); }
C
cat >main.c <<'C'
#include <stdio.h>
#include "solve.h"
#ifndef N
#define N 37
#endif
int main(void) {
  double x[N];
  for (int i = 0; i < N; i++) x[i] = i;
  printf("%g\n", solve(x, N));
  return 0;
}
C
clang-19 main.c 'solve it.c' scale.c -o plain
./plain >expected

# check WHAT PROGRAM KERNEL TRIPS: KERNEL - where nothing is measured.
check() {
  rm -f seqprof.csv
  "$2" >got || { echo "$1: status $?"; exit 1; }
  cmp expected got || { echo "$1: another result"; exit 1; }
  if [ "$3" = - ]; then
    [ ! -e seqprof.csv ] || { echo "$1: a profile of nothing"; exit 1; }
  else
    grep -Eq "^$3,.*,loop_(parallel|reduction|sequential),,,,$4," seqprof.csv ||
      { echo "$1: no loop of $4 trips in $3"; cat seqprof.csv; exit 1; }
  fi
  echo "$1"
}
compile() { for f in main 'solve it' scale unused; do seqprof-cc -O3 -flto -Wall -c "$f.c" -o "$f.o"; done; }

export SEQPROF_KERNEL=solve
seqprof-cc -O2 main.c 'solve it.c' scale.c -o p 2>messages
[ ! -s messages ] || { cat messages; exit 1; }
check 'all at once' ./p solve 37
echo '-DN=41 main.c "solve it.c" scale.c -op' >words
seqprof-cc @words
clang-19 -DN=41 main.c 'solve it.c' scale.c -o plain && ./plain >expected
check 'words in a file' ./p solve 41
clang-19 main.c 'solve it.c' scale.c -o plain && ./plain >expected

compile
ar rcs libsolve.a 'solve it.o' scale.o unused.o 2>messages || { cat messages; exit 1; }
seqprof-cc main.o libsolve.a -lm -o p
check 'static library by path; a member that nothing needs' ./p solve 37
seqprof-cc main.o -L . -lsolve -o p
check 'static library by name' ./p solve 37
rm -f libthin.a && ar rcsT libthin.a 'solve it.o' scale.o 2>messages
seqprof-cc main.o libthin.a -o p
check 'thin library' ./p solve 37
clang-19 -c scale.c -o native.o && rm -f libmixed.a && ar rcs libmixed.a native.o 'solve it.o' 2>messages
seqprof-cc main.o -L. -lmixed -static -o p
check 'machine code in a library; -static' ./p solve 37
ar rcs libmain.a main.o 2>messages
seqprof-cc libmain.a libsolve.a -o p
check 'main in a library' ./p solve 37
seqprof-cc -r main.o 'solve it.o' -o both.o && seqprof-cc both.o scale.o -o p
check 'relocatable' ./p solve 37

seqprof-cc -shared -fPIC -o libsolve.so 'solve it.o' scale.o
seqprof-cc main.o ./libsolve.so -o p
check 'kernel in a shared library' ./p solve 37
seqprof-cc -shared -fPIC -o libscale.so scale.o
seqprof-cc main.o 'solve it.o' ./libscale.so -o p
check 'shared library without the kernel' ./p solve 37
if SEQPROF_KERNEL=sovle seqprof-cc main.o 'solve it.o' scale.o -o p 2>messages; then echo 'no such function: linked'; exit 1; fi
SEQPROF_KERNEL=sovle SEQPROF_OTHERS=1 seqprof-cc main.o 'solve it.o' scale.o -o p
check 'another program of the project' ./p -

seqprof-cc -x c -c - -o scale.o <scale.c && seqprof-cc main.o 'solve it.o' scale.o -o p
check 'from standard input' ./p solve 37
cp scale.c scale.inc && seqprof-cc -xc -c scale.inc -o scale.o && seqprof-cc main.o 'solve it.o' scale.o -o p
check '-x' ./p solve 37
clang-19 -S scale.c -o scale.s && seqprof-cc -c scale.s && seqprof-cc main.c 'solve it.c' scale.s -o p
check 'assembly' ./p solve 37
clang-19 -E scale.c -o scale.i && seqprof-cc -c scale.i -o scale.o && seqprof-cc main.o 'solve it.o' scale.o -o p
check 'preprocessed' ./p solve 37
seqprof-cc -MMD -MP -c 'solve it.c' -o solve.o && grep -q solve.h solve.d
seqprof-cc -fopenmp -include omp.h -c main.c -o main.o && seqprof-cc -fopenmp main.o solve.o scale.o -o p
check 'OpenMP; dependencies' ./p solve 37
seqprof --quiet --kernel solve --cflags '-DN=37 -DTEXT="a b"' -o p.csv main.c 'solve it.c' libsolve.a 2>got
cmp expected got && grep -q ',loop_.*,37,' p.csv && echo 'seqprof; options before files'
if seqprof-cc main.o 'solve it.o' -o p 2>messages; then echo 'a symbol is missing: linked'; exit 1; fi
grep -q 'undefined reference to `scale' messages && echo 'missing symbol, named'
