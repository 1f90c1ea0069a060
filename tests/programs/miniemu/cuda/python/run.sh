#!/bin/sh
# Usage: run.sh MINIEMU SCRIPT.py PACKAGE DEVICE [AKEMU]: where Python (KERNELCAST_PYTHON, else python3) has numpy and the package, the
# script finds on the emulator what numpy reckons, and each kernel that it names ("kernel NAME") has a row. It finds the
# same a second time, with what the package has cached. AKEMU emulates the traces of these kernels on the device.
set -eu
miniemu=$1 script=$2 package=$3 device=$4 akemu=${5:-}
python=${KERNELCAST_PYTHON:-$(command -v python3 || true)}
[ -n "$python" ] || { echo "kernelcast-skipped: no python3"; exit 0; }
"$python" -c "import numpy, importlib.util, sys; sys.exit(not importlib.util.find_spec('$package'))" 2>/dev/null ||
  { echo "kernelcast-skipped: $python has no numpy or no $package"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
unset CUPY_CACHE_DIR NUMBA_CACHE_DIR PYCUDA_CACHE_DIR TRITON_CACHE_DIR
for time in first second; do
  status=0
  "$miniemu" --attach --as "$device" --no-registers -o "$folder/rows.csv" -- "$python" "$script" >"$folder/out" 2>"$folder/err" || status=$?
  cat "$folder/out" "$folder/err"
  grep -q "^kernelcast-skipped" "$folder/out" && exit 0
  [ $status = 0 ] || { echo "$time time: exit status $status"; exit 1; }
  sed -n 's/^kernel //p' "$folder/out" >"$folder/kernels"
  [ -s "$folder/kernels" ] || { echo "no kernels were named"; exit 1; }
  while read -r kernel; do
    grep -q "^[^,]*$kernel" "$folder/rows.csv" || { echo "$time time: kernel $kernel has no row"; exit 1; }
  done <"$folder/kernels"
done
[ -n "$akemu" ] || exit 0
"$miniemu" --attach --as "$device" --no-registers --groups resident:2 --emit trace -o "$folder/trace.csv" -- "$python" "$script" \
  >"$folder/out" 2>"$folder/err" || { cat "$folder/err"; exit 1; }
"$akemu" --quiet --device "$device" "$folder/trace.csv" >"$folder/times.csv"
while read -r kernel; do
  grep "^[^,]*$kernel" "$folder/times.csv" | grep -q ',ok,' || { echo "kernel $kernel has no time"; cat "$folder/times.csv"; exit 1; }
done <"$folder/kernels"
