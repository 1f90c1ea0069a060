#!/bin/bash
# speed.sh BIN SUITE [quick]: processor time of the workloads of bench-suites/automatch, measured and plain, in pairs
# (A B A B …, the median of the ratios); sizes are not powers of two. Beside it, where they are installed, valgrind's
# cachegrind and LLVM's interpreter on smaller inputs, unless quick.
set -u
bin=$1 suite=$2 quick=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%U %S'

cpu() { { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{print $1 + $2}'; }
ratio() { # ratio PLAIN... -- MEASURED...: median of three pairs
  local plain=() i
  while [ "$1" != -- ]; do plain+=("$1"); shift; done
  shift
  for i in 1 2 3; do echo "$(cpu "${plain[@]}") $(cpu "$@")"; done | awk '$1 > 0 {print $2 / $1}' | sort -n | sed -n 2p
}
often() { for _ in 1 2 3 4 5 6 7 8 9 10; do "$@"; done; }
measured() { # measured GRANULARITY SAMPLE COMMAND...
  env KERNELCAST_SEQPROF_OUTPUT="$work/p.csv" KERNELCAST_SEQPROF_GRANULARITY="$1" KERNELCAST_SEQPROF_SAMPLE="$2" "${@:3}"
}
export -f measured often

printf 'workload,line,word,sampled_64,cachegrind,lli\n'
while read -r kernel small arguments; do
  clang-19 -O2 -ffp-contract=off -fno-math-errno "$suite/$kernel.c" -o "$work/plain" -lm || exit 1
  SEQPROF_KERNEL=$kernel "$bin/seqprof-cc" "$suite/$kernel.c" -o "$work/measured" -lm || exit 1
  line=$(ratio "$work/plain" $arguments -- measured 64 1 "$work/measured" $arguments)
  word=$(ratio "$work/plain" $arguments -- measured 8 1 "$work/measured" $arguments)
  sampled=$(ratio "$work/plain" $arguments -- measured 64 64 "$work/measured" $arguments)
  grind='' lli=''
  if [ -z "$quick" ]; then
    command -v valgrind >/dev/null &&
      grind=$(ratio "$work/plain" $arguments -- valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=/dev/null "$work/plain" $arguments)
    if command -v lli-19 >/dev/null; then
      # It knows no intrinsic functions. The plain program runs ten times, since the input is small.
      clang-19 -O1 -fno-builtin -ffp-contract=off -emit-llvm -c "$suite/$kernel.c" -o "$work/code.bc"
      lli-19 -force-interpreter "$work/code.bc" ${small//,/ } >/dev/null 2>&1 &&
        lli=$(ratio often "$work/plain" ${small//,/ } -- lli-19 -force-interpreter "$work/code.bc" ${small//,/ } |
          awk '{print 10 * $1}')
    fi
  fi
  printf '%s,%s,%s,%s,%s,%s\n' "$kernel" "$line" "$word" "$sampled" "$grind" "$lli"
done <<'LIST'
stencil 101,103,31,1 501 503 31 2
spmv 9000,1 146689 4
lud 130 700
lbm 20,21,19,1 90 91 70 2
hotspot 150,2 1500 3
srad 150,1,32 900 2 128
lavamd 3,20 6 50
cutcp 9,6 17 12
LIST
