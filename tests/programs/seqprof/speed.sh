#!/bin/bash
# speed.sh BIN SUITE [quick]: processor time of the workloads of bench-suites/automatch, measured and plain, in pairs
# (A B A B …, the median of the ratios), with each instruction set that this processor has; sizes are not powers of two.
# Beside it, where they are installed, valgrind's cachegrind and LLVM's interpreter on smaller inputs, unless quick. With
# NPB=DIR (a checkout of the NAS benchmarks 3.0 in C) also CG, MG and FT of class S: their data stay in the caches.
set -u
bin=$1 suite=$2 quick=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%U %S'
levels=v3
grep -q avx512dq /proc/cpuinfo && levels='v3 v4'
columns=$(for how in line word sampled_64; do for level in $levels; do echo -n "${how}_$level,"; done; done)
echo "workload,${columns}cachegrind,lli" | sed 's/_v3/_avx2/g; s/_v4/_avx512/g'

cpu() { { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{print $1 + $2}'; }
ratio() { # ratio PLAIN... -- MEASURED...: median of three pairs
  local plain=() i
  while [ "$1" != -- ]; do plain+=("$1"); shift; done
  shift
  for i in 1 2 3; do echo "$(cpu "${plain[@]}") $(cpu "$@")"; done | awk '$1 > 0 {print $2 / $1}' | sort -n | sed -n 2p |
    awk '{ printf "%.3g\n", $1 }'
}
often() { for _ in 1 2 3 4 5 6 7 8 9 10; do "$@"; done; }
measured() { # measured LEVEL GRANULARITY SAMPLE COMMAND...
  env KERNELCAST_ISA="$1" KERNELCAST_SEQPROF_OUTPUT="$work/p.csv" KERNELCAST_SEQPROF_GRANULARITY="$2" \
    KERNELCAST_SEQPROF_SAMPLE="$3" "${@:4}"
}
export -f measured often
ratios() { # ratios TIMES ARGUMENT...: of $work/plain, which runs once or ten times, and $work/measured; a cell per column
  local times=$1 how level many=
  shift
  [ "$times" = 10 ] && many=often
  for how in '64 1' '8 1' '64 64'; do
    for level in $levels; do
      printf '%s,' "$(ratio $many "$work/plain" "$@" -- measured $level $how "$work/measured" "$@" |
        awk -v times="$times" '{ printf "%.3g\n", times * $1 }')"
    done
  done
}
flags='-O2 -ffp-contract=off -fno-math-errno'

{
  while read -r kernel small arguments; do
    clang-19 $flags "$suite/$kernel.c" -o "$work/plain" -lm || exit 1
    SEQPROF_KERNEL=$kernel "$bin/seqprof-cc" "$suite/$kernel.c" -o "$work/measured" -lm || exit 1
    cells=$(ratios 1 $arguments) grind='' lli=''
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
    printf '%s,%s%s,%s\n' "$kernel" "$cells" "$grind" "$lli"
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
} | awk -F, -v OFS=, '
  { print; for (i = 2; i <= NF; ++i) if ($i != "") { sum[i] += log($i); ++n[i] } if (NF > most) most = NF }
  END { row = "geometric mean"; for (i = 2; i <= most; ++i) row = row "," (n[i] ? sprintf("%.3g", exp(sum[i] / n[i])) : ""); print row }'
for code in ${NPB:+cg mg ft}; do
  cp -r "$NPB/." "$work/npb"
  folder=$work/npb/$(tr a-z A-Z <<<$code)
  cc -w -o "$work/npb/sys/setparams" "$work/npb/sys/setparams.c" || exit 1
  cp -n "$work/npb/config/make.def.template" "$work/npb/config/make.def"
  (cd "$folder" && ../sys/setparams $code S) || exit 1
  sources=$(echo "$folder/$code.c" "$work"/npb/common/{c_print_results,c_randdp,c_timers,wtime}.c)
  clang-19 -w $flags -fcommon -I "$work/npb/common" -I "$folder" $sources -o "$work/plain" -lm || exit 1
  SEQPROF_KERNEL=main "$bin/seqprof-cc" -w -fcommon -I "$work/npb/common" -I "$folder" $sources -o "$work/measured" -lm || exit 1
  echo "NPB $code S,$(ratios 10),"
done
