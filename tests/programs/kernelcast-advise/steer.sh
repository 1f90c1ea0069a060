#!/bin/sh
# Usage: steer.sh PROGRAMS APPLICATION MODE. Launches go to the other device of the application's context where that is
# projected to be faster, and nothing else changes: devices.c checks itself. PoCL's own trace says where they ran.
set -eu
programs=$1 application=$2 mode=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache" POCL_CACHE_DIR="$folder/pocl" POCL_TRACING=text
[ -x /usr/lib/llvm-19/bin/clang ] || command -v clang-19 >/dev/null || { echo "kernelcast-skipped: no clang-19"; exit 0; }
cd "$folder"
fail() { echo "$*"; exit 1; }
what=$mode
[ $mode != stays ] || what=in_order
for devices in "pthread pthread" "cpu cpu"; do  # of PoCL 3 and of later ones
  export POCL_DEVICES="$devices"
  status=0
  "$application" "$what" once >out 2>words || status=$?
  [ $status = 0 ] && break
done
[ $status = 0 ] || { cat words; echo "kernelcast-skipped: no two OpenCL devices ($status)"; exit 0; }

steer() { "$programs/kernelcast-advise" --no-registers --steer --emit steering -o s.csv "$@"; }
column() { awk -F, -v want="$1" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == want) at = i } NR > 1 { print $at }' s.csv; }
sum() { column "$1" | awk '{ n += $1 } END { print n + 0 }'; }

if [ $mode = stays ]; then
  stays() {  # reason mapping words-on-stderr application's-mode until
    steer --device-map "$2" -- "$application" "$4" "$5" >out 2>words || { cat words; fail "$4: ended with $?"; }
    [ "$(sum launches_steered)" = 0 ] || { cat s.csv; fail "$4: steered"; }
    column reason | grep -q "$1" || { cat s.csv; fail "$4: not because '$1'"; }
    [ "$(cut -d: -f2- words | head -1)" = "$3" ] || { cat words; fail "$4: does not say '$3'"; }
  }
  steer -- "$application" in_order once >out 2>words  # and what is counted is known from now on
  column reason | grep -q "no time is projected for its own device" || { cat s.csv; fail "an unknown device"; }
  grep -q "hint: --device-map 1=ID" words || { cat words; fail "the unknown device is not named"; }
  stays "no other device of its context is projected to be faster" 0=t4,1=t4 "" in_order decided
  stays "no other device of its context is projected to be faster" 0=t4,1=hd5670 "" in_order decided
  stays "its program was not built for" 0=hd5670,1=t4 "" one_built decided
  stays "its context has one device" 0=hd5670 " nothing was steered: each context of the application has one device" one_device once
  exit 0
fi

rm -f pocl_trace_events.log
steer --device-map "0=hd5670,1=t4,0.0=hd5670,0.1=t4,1.0=hd5670,1.1=t4" -- "$application" $mode steered >out 2>words ||
  { cat words; fail "ended with $?"; }
grep -q "as on one device" out || fail "its output is gone"
cat s.csv
[ "$(column device | sort -u)" = hd5670 ] && [ "$(column to_device | sort -u)" = t4 ] || fail "the devices"
column launches_steered | grep -q '^0$' && fail "some were not steered"
if [ -f pocl_trace_events.log ]; then
  grep 'ndrange_kernel | complete' pocl_trace_events.log | cut -d'|' -f3 | sort | uniq -c | awk '{ print $1 }' | sort -n | tr '\n' ' ' >ran
  elsewhere=$(sum launches_steered)
  printf '%s\n' $elsewhere $(($(sum launches) - elsewhere)) | sort -n | tr '\n' ' ' >expected
  cmp ran expected || fail "PoCL ran $(cat ran)on its two devices, not $(cat expected)"
  echo "PoCL ran $(cat ran)on its two devices"
fi
