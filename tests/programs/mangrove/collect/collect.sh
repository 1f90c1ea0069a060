#!/bin/sh
# mangrove collect on stand-ins for the CUDA runtime and NVML: times and powers are theirs, the application computes what
# it computes alone, and each way to fail says what it is.
# Usage: collect.sh BIN FOLDER_OF_THE_STAND_INS SOURCE FOLDER_OF_THE_EMULATING_RUNTIME
set -u
mangrove=$1/mangrove standins=$2 source=$3 emulating=$4
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 2
export KERNELCAST_DEVDB="$source/devdb"
fail() { echo "collect.sh: $*" >&2; [ -f words ] && cat words >&2; [ -f t.csv ] && cat t.csv >&2; exit 1; }
field() { awk -F, -v k="$1" -v c="$2" -v f="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $1 == k && $2 == c { print $at[f] }' t.csv; }
near() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { exit !(a != "" && a >= b * (1 - t) && a <= b * (1 + t)) }'; }
# What the application says and how it ends: alone, and measured.
collect() {
  LD_LIBRARY_PATH="$standins" "$standins/app" >alone
  [ $? = 7 ] || fail "the application alone ends otherwise"
  LD_LIBRARY_PATH="$standins" "$mangrove" collect -o t.csv "$@" -- "$standins/app" >said 2>words
  [ $? = 7 ] || fail "the application's exit status is not passed on"
  cmp -s alone said || fail "the application computes something else: $(cat said)"
}

# Times in closed form: a launch takes 250 us of the stand-in's clock. 0.5 s are 2,000 launches, in batches of 80. The
# power is sampled every 5 ms, and the counter changes every 20 ms.
STANDIN_NVML_WATTS=120 collect --seconds 0.5
[ "$(grep -c . t.csv)" = 5 ] || fail "not four rows"
for row in "count 1024/256" "count 16x16/16x16" "other 1024/256"; do
  set -- $row
  near "$(field "$1" "$2" time_s)" 250e-6 1e-4 || fail "$row: time"
  near "$(field "$1" "$2" runs)" 2000 0.1 || fail "$row: runs"
  near "$(field "$1" "$2" power_w)" 120 0.03 || fail "$row: power"
  [ "$(field "$1" "$2" power_source)" = energy_counter ] || fail "$row: the counter is the better source"
  [ "$(field "$1" "$2" device)" = gtx1650 ] || fail "$row: the database knows the device"
done
[ "$(field other 4096/4096 status)" = unknown ] || fail "a launch that fails has a row that says so"
grep -q "kernel 'other', 4096/4096: the kernel cannot be repeated: CUDA error 1" words || fail "the failure is not reported"

# The sensor where there is no counter; neither; no NVML wanted; names and kernels chosen.
STANDIN_NVML_COUNTER=0 STANDIN_NVML_WATTS=99.5 collect --seconds 0.2 --device mine --skip other
near "$(field count 1024/256 power_w)" 99.5 1e-6 || fail "the sensor's value"
[ "$(field count 1024/256 power_source)" = sensor ] || fail "the sensor is named"
[ "$(field count 1024/256 device)" = mine ] || fail "--device"
[ "$(field other 1024/256 status)$(field other 1024/256 time_s)" = unknown ] || fail "--skip"
STANDIN_NVML_COUNTER=0 STANDIN_NVML_POWER=0 collect --seconds 0.1
[ -z "$(field count 1024/256 power_w)" ] && [ -n "$(field count 1024/256 time_s)" ] || fail "a time without a power"
grep -q "the device reports no power: Not Supported" words || fail "why there is no power"
STANDIN_NVML_DEVICES=0 collect --seconds 0.1 --no-power
near "$(field count 1024/256 time_s)" 250e-6 1e-4 || fail "a time without NVML"

# A model learns from it.
printf 'kernel,case,a\ncount,1024/256,1\ncount,16x16/16x16,2\nother,1024/256,3\n' >f.csv
"$mangrove" train --features f.csv --feature a --targets t.csv --trees 4 -o m.json 2>words || fail "the rows train a model"

# No device, no NVML: exit status 5, before the application starts.
refused() {
  LD_LIBRARY_PATH="$1" STANDIN_NVML_DEVICES=0 "$mangrove" collect -o none.csv -- "$standins/app" >said 2>words
  [ $? = 5 ] || fail "without NVML or a device the exit status is 5"
  [ ! -s said ] || fail "the application ran"
}
refused "$standins"
grep -q 'sees no device' words || fail "the missing device is not reported"
if ! ldconfig -p 2>/dev/null | grep -q libnvidia-ml; then
  refused /nonexistent
  grep -q 'no NVIDIA management library' words || fail "the missing NVML is not reported"
fi
STANDIN_CUDA_DEVICES=0 LD_LIBRARY_PATH="$standins" "$mangrove" collect -o none.csv -- "$standins/app" >said 2>words
[ $? = 3 ] || fail "what the application does without a device is its own"
grep -q 'launched no kernel' words || fail "an application without kernels is not reported"
LD_LIBRARY_PATH="$standins" "$mangrove" collect -o none.csv -- ./nothing 2>words
[ $? = 4 ] || fail "an application that is not there is exit status 4"

# A CUDA application on the runtime that emulates.
if ! command -v nvcc >/dev/null || [ ! -e "$emulating/libcudart.so.13" ]; then
  echo "collected; no nvcc: not on the emulator"
  exit 0
fi
nvcc -std=c++17 -arch=sm_75 -cudart shared -o app "$source/tests/programs/mangrove/collect/app.cu" 2>words || fail "nvcc"
export LD_LIBRARY_PATH="$emulating:$standins"
./app >alone || fail "the CUDA application alone"
"$mangrove" collect --seconds 0.1 -o t.csv -- ./app >said 2>words || fail "the CUDA application measured"
cmp -s alone said || fail "the CUDA application computes something else"
[ "$(grep -c ',ok,' t.csv)" = 3 ] || fail "three of its four configurations have times"
echo "collected"
