#!/bin/sh
# Usage: ordered.sh MINIEMU APPLICATION: what the commands of an OpenCL application wait for, as rows of --commands.
set -eu
miniemu=$1 app=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$1"; cat "$folder/out" "$folder/err"; exit 1; }
cat >"$folder/expected" <<END
1,h2d,0,,,,1024,yes,pageable
2,h2d,1,,,,1024,no,pageable
3,kernel,1,2,next,256/64,0,no,
4,kernel,2,,next,256/64,0,no,
5,kernel,2,3,next,256/64,0,no,
6,host,2,4;5,,,0,no,
7,kernel,2,6,next,256/64,0,no,
8,kernel,1,3;5,next,256/64,0,no,
9,wait,0,4;5,,,0,yes,
10,fill,1,8,,,4096,no,
11,d2d,1,10,,,1024,no,
12,d2h,1,11,,,2048,yes,pinned
13,h2d,1,12,,,512,yes,pinned
14,h2d,1,13,,,2048,no,pinned
15,host,2,6;7,,,0,no,
16,d2h,1,14;15,,,1024,yes,pageable
17,d2h,2,6,,,128,yes,pageable
18,wait,1,16,,,0,yes,
19,wait,2,6;7;17,,,0,yes,
END
for device in a100 mi300x ''; do
  status=0
  "$miniemu" --attach ${device:+--as "$device"} --no-registers --commands "$folder/commands.csv" -o "$folder/rows.csv" -- "$app" >"$folder/out" 2>"$folder/err" || status=$?
  [ $status = 0 ] && [ "$(cat "$folder/out")" = right ] || fail "as ${device:-what there is}: status $status"
  cut -d, -f2-9,11 "$folder/commands.csv" | tail -n +2 | diff "$folder/expected" - || fail "as ${device:-what there is}: another order"
  [ "$(cut -d, -f12,15 "$folder/commands.csv" | tail -n +2 | sort -u)" = 0,opencl ] || fail "device or interface"
done
echo "19 commands as on paper"
