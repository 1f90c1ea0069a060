#!/bin/sh
# Usage: platform.sh MINIEMU APPLICATION [ARGUMENT...]. An OpenCL application on the platform of the emulator, as a device
# of each vendor: it ends as on another OpenCL device, where there is one, prints the same, and has the same rows.
set -eu
miniemu=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache" POCL_CACHE_DIR="$folder/pocl"
run() {  # NAME OPTION...
  name=$1 status=0
  shift
  "$miniemu" --attach --no-registers "$@" -o "$folder/$name.csv" -- $application >"$folder/$name.out" 2>"$folder/$name.err" || status=$?
  echo $status >"$folder/$name.status"
}
# Which of the launches that are under way together fetches a kernel's code is open.
rows() {  # NAME: sorted, without that
  awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "code_fetched") at = i } { $at = "" } 1' "$folder/$1.csv" |
    cut -d, -f$columns | sort
}
application="$*"
for device in a100 mi100 a770; do
  run $device --as $device
  [ "$(cat "$folder/$device.status")" != 77 ] || { echo "as $device it finds no device"; exit 1; }
done
"$@" >/dev/null 2>&1 && plain=0 || plain=$?
if [ $plain = 77 ]; then other=a100; else other=elsewhere; run elsewhere; fi
for device in a100 mi100 a770; do
  cmp "$folder/$other.status" "$folder/$device.status" || { cat "$folder/$device.err"; exit 1; }
  case $1 in
  */app_prints) ;;  # PoCL 3.1 prints no vectors
  *) diff "$folder/$other.out" "$folder/$device.out" || exit 1 ;;
  esac
  case $1 in */app_threads) columns=1-40 ;; *) columns=1- ;; esac
  rows $other >"$folder/wanted"
  rows $device | diff "$folder/wanted" - >"$folder/difference" || { echo "as $device:"; cut -c1-120 "$folder/difference"; exit 1; }
done
echo "$(($(wc -l <"$folder/a100.csv") - 1)) rows equal on three devices${other#a100}"
