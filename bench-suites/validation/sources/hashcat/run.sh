#!/bin/sh
# Counts the measured launches of hashcat's kernels and writes their kernel rows.
#
#   run.sh MINIEMU DEVDB SOURCES MISSING <measured/hashcat.csv >kernels/hashcat.csv
#
# SOURCES: a checkout of hashcat@686bc227c, made by
#     sed -i '1i #define DEBUG' src/autotune.c && make ENABLE_UNRAR=0
#   hashcat launches each kernel four times before there are candidates to try, unless that file is made for debugging;
#   how often reads of tables in shared memory meet in a bank depends on the candidates.
# MISSING: gets suite,kernel,case,reason of each launch without a row
#
# A case is MODE GROUPSxTHREADS LOOPSxVECTOR: each work-item tries LOOPS candidates, VECTOR at a time. Of each MODE and VECTOR
# hashcat's own benchmark gives a launch, as on the device with the fewest compute units. LOOPS and THREADS are set in that
# launch; besides them hashcat changes only how many candidates it prepares. GROUPS are set in the rows: grid.awk.
set -eu
miniemu=$1 devdb=$2 sources=$3 missing=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
csv() { awk -f "$here/../../../csv.awk" "$@"; }
# hashcat keeps what it has compiled beside itself.
mkdir "$work/hashcat"
(cd "$sources" && cp -r hashcat hashcat.hcstat2 OpenCL modules tunings "$work/hashcat")
csv -f "$here/launches.awk" | LC_ALL=C sort -u >"$work/launches"   # mode kernel vector loops threads groups

# Leaves a launch of the kernel as launch file and buffers in the folder keep. It has candidates for at least two of the
# largest work-groups.
capture() {
  most=$(awk -v mode="$mode" -v vector="$vector" '$1 == mode && $3 == vector && $5 > n { n = $5 } END { print n }' "$work/launches")
  rm -rf "$work/keep" "$work/hashcat/kernels"
  cd "$work/hashcat"
  timeout -k 10 600 "$miniemu" --attach --as gtx1650 --devdb "$devdb" --budget 20000000 --groups 1 --no-registers --quiet \
    --keep "$work/keep" -o "$work/captured.csv" -- ./hashcat --benchmark --hash-type "$mode" --optimized-kernel-enable \
    --backend-vector-width "$vector" --kernel-accel 1 --kernel-loops 1024 --kernel-threads $((most > 128 ? most / 4 : 32)) \
    --runtime 1 --self-test-disable --force --backend-ignore-cuda --backend-ignore-hip
}

# Makes a launch file of it whose parameters are loops, threads and groups, and the table of their values.
parametrise() {
  launch=$(grep -lx "kernel = \"${kernel%_*}_s..\"" "$work"/keep/launch-*.toml | head -n 1)
  [ -n "$launch" ] || return
  # The last argument is hashcat's kernel_param_t: loop_cnt and il_cnt are 32-bit words at bytes 20 and 24.
  last=$(sed -n 's/^args = .*"\(.*\)"\]$/\1/p' "$launch")
  words=$work/keep/$(sed -n "s/^$last = .*file=\(.*\)\"$/\1/p" "$launch")
  items=$(sed -n 's/^global = \[\(.*\)\]$/\1/p' "$launch")
  {
    echo loops,threads,groups
    awk -v mode="$mode" -v vector="$vector" -v items="$items" \
      '$1 == mode && $3 == vector && !seen[$4, $5]++ { print $4 "," $5 "," int(items / $5) }' "$work/launches"
  } >"$work/points.csv"
  sed -e "s/^\($last = .*file=\).*\"$/\1words-\${loops}\"/" -e 's/^global = .*/grid = ["groups"]/' \
    -e 's/^local = .*/local = ["threads"]/' \
    -e 's/^\[buffers\]$/[parameters]\nloops = 1024\nthreads = 32\ngroups = 1\n\n&/' "$launch" >"$work/keep/launch.toml"
  tail -n +2 "$work/points.csv" | cut -d, -f1 | sort -u | while read -r loops; do
    cp "$words" "$work/keep/words-$loops"
    # shellcheck disable=SC2059
    word=$(printf '\\%03o\\%03o\\0\\0' $((loops % 256)) $((loops / 256)))
    # shellcheck disable=SC2059
    printf "$word$word" | dd of="$work/keep/words-$loops" bs=1 seek=20 conv=notrunc status=none
  done
}

echo suite,kernel,case,reason >"$missing"
first=1
cut -d ' ' -f 1-3 "$work/launches" | uniq >"$work/kernels"
while read -r mode kernel vector; do
  rm -f "$work/rows.csv"
  reason=
  status=0
  (capture) >"$work/output" 2>"$work/errors" </dev/null || status=$?
  if [ $status = 124 ]; then
    reason="time limit"
  elif ! parametrise; then
    reason=$(grep -e "'$kernel' has no row: " -e 'error: ' "$work/errors" | head -n 1)
    [ -n "$reason" ] || reason="hashcat has not launched the kernel"
  elif ! "$miniemu" "$work/keep/launch.toml" --points "$work/points.csv" --groups 2 --registers sm_75,sm_86 --quiet --timeout 600 \
    -o "$work/rows.csv" 2>"$work/errors" </dev/null; then
    reason=$(grep 'error: ' "$work/errors" | head -n 1)   # of what comes behind the rows that there are
  fi
  reason=$(echo "$reason" | sed 's/.*error: //; s/.*has no row: //; s/["\\]/ /g')
  [ -s "$work/rows.csv" ] || : >"$work/rows.csv"
  csv -f "$here/grid.awk" -v mode="$mode" -v kernel="$kernel" -v vector="$vector" -v first=$first -v missing="$missing" \
    -v reason="$reason" "$work/launches" "$work/rows.csv" >"$work/scaled.csv"
  [ ! -s "$work/scaled.csv" ] || first=0
  cat "$work/scaled.csv"
done <"$work/kernels"
