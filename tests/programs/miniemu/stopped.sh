#!/bin/sh
# Usage: stopped.sh MINIEMU. A signal ends a run of several launches: rows of those that have ended are written, and the
# exit status is the signal's. Where none has ended there is no output.
set -eu
command -v clang-19 >/dev/null || { echo "kernelcast-skipped: no clang-19"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >two.cl <<'C'
__kernel void quick(__global float* x) {
  if (get_global_id(0) == 0) printf("quick has run\n");
  x[get_global_id(0)] *= 2;
}
__kernel void slow(__global float* x, int n) {
  float sum = 0;
  if (get_global_id(0) == 0) printf("slow runs\n");
  for (int i = 0; i < n; ++i) sum = sum * 0.5f + x[i & 63];
  x[get_global_id(0)] = sum;
}
C
cat >two.toml <<'T'
file = "two.cl"
[buffers]
x = "f32:64:random"
[[launch]]
kernel = "quick"
global = [64]
local = [64]
args = ["x"]
[[launch]]
kernel = "slow"
global = [64]
local = [64]
args = ["x", "i32:2000000000"]
T
stop() {  # signal, status, words that say that the run has begun, and the run
  signal=$1 expected=$2 words=$3
  shift 3
  rm -f rows.csv said
  env --default-signal=INT "$@" -o rows.csv >said 2>&1 &  # a shell ignores it for what runs in the background
  process=$!
  until grep -q "$words" said; do
    kill -0 $process 2>/dev/null || { cat said; echo "it ended by itself"; exit 1; }
    sleep 0.05
  done
  kill -s "$signal" $process
  status=0
  wait $process || status=$?
  [ $status = "$expected" ] || { cat said; echo "status $status, and not $expected"; exit 1; }
}
for case in INT:130 TERM:143; do
  stop "${case%:*}" "${case#*:}" 'quick has run' "$1" two.toml --no-registers
  [ "$(cut -d, -f1 rows.csv | tr '\n' ' ')" = "kernel quick " ] || { cat rows.csv; echo "one row, of what has ended"; exit 1; }
  grep -q "1 of 2 launches" said || { cat said; echo "it says what is there"; exit 1; }
done
