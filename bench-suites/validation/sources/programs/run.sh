#!/bin/sh
# What each program of ../../programs/times.csv asks of its device: its kernels and commands anew. Needs nvcc.
#   run.sh BIN <../../programs/times.csv
set -eu
bin=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cut -d, -f1,2 | tail -n +2 | sort -u | tr , ' ' >"$work/list"
while read -r program version; do
  [ -x "$work/$program" ] || "${NVCC:-nvcc}" -arch=sm_75 -cudart shared -O2 -o "$work/$program" "$here/$program.cu"
  out=$here/../../programs/${program}_$version
  "$bin/miniemu" --attach --as v100 --quiet --commands "$work/commands.csv" -o "$out.kernels.csv" -- "$work/$program" "$version" </dev/null
  awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i } NR > 1 { $at["process"] = ""; $at["host_s"] = 0 } { print }' \
    "$work/commands.csv" >"$out.commands.csv"
done <"$work/list"
