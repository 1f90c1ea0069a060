#!/bin/sh
# Counts the measured launches of HeCBench's CUDA programs and writes their kernel rows: of the suites hecbench and
# hecbench_h100, each on the device that it was measured on.
#
#   run.sh MINIEMU DEVDB SOURCES MISSING [PROGRAM]... <measured/SUITE.csv >kernels/SUITE.csv
#
# SOURCES: a checkout that has the programs as executables, src/NAME-cuda/main or the only one of that folder, linked with
# the shared CUDA runtime. Each runs as it was measured, on the emulator, with a budget of warp instructions
# (miniemu --budget): of larger launches some groups run, and later launches may miss what the others leave in memory.
# programs.csv has what differs from the default budget and seconds, and why launches of a program may have no row.
# MISSING: gets suite,kernel,case,reason of each measured launch without a row
set -eu
miniemu=$1 devdb=$2 sources=$3 missing=$4
shift 4
only=" $* "
default_budget=100000000 default_seconds=60
here=$(cd "$(dirname "$0")" && pwd)
command -v c++filt >/dev/null || { echo "c++filt is not installed (a part of binutils)" >&2; exit 5; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/measured.csv"
csv() { awk -f "$here/../../../csv.awk" "$@"; }
device=$(csv -f "$here/../../devices.awk" "$work/measured.csv")
"$here/inputs.sh" "$sources/src"
echo suite,kernel,case,reason >"$missing"
"$miniemu" --columns | awk -F, '$1 == "kernel" { line = line (line == "" ? "" : ",") $2 } END { print line }' >"$work/none.csv"
csv -f "$here/programs.awk" "$here/programs.csv" "$work/measured.csv" >"$work/programs"
header=header
while IFS='|' read -r program arguments budget seconds environment reason; do
  case $only in "  " | *" $program "*) ;; *) continue ;; esac
  folder=$sources/src/$program-cuda
  executable=$folder/main
  [ -x "$executable" ] || executable=$(find "$folder" -maxdepth 1 -type f -perm -u+x ! -name '*.sh' ! -name '*.py' 2>/dev/null | head -n 1)
  cp "$work/none.csv" "$work/rows.csv"
  if [ -z "$executable" ]; then
    : "${reason:=program not built}"
  else
    # Rows are there as soon as they are known: an application that is ended early loses none.
    # shellcheck disable=SC2086
    (
      cd "$folder"
      env OMP_NUM_THREADS=1 $environment timeout -k 10 "${seconds:-$default_seconds}" "$miniemu" --attach --quiet --threads 1 \
        --groups 31 --budget "${budget:-$default_budget}" --timeout "${seconds:-$default_seconds}" --as "$device" --devdb "$devdb" \
        -o "$work/rows.csv" -- "$executable" $arguments
    ) >"$work/output" 2>"$work/errors" </dev/null || true
    [ -s "$work/rows.csv" ] || cp "$work/none.csv" "$work/rows.csv"
    [ -n "$reason" ] || reason=$(sed -n "s/.*has no row: kernel '[^']*', [^:]*: \([a-z]* [a-z]* of\).*/access outside a buffer/p
      s/.*has no row: it has not ended.*/time limit/p" "$work/errors" | head -n 1)
    : "${reason:=no launch of these sizes}"
  fi
  cut -d, -f1 "$work/rows.csv" | c++filt >"$work/names"
  python3 "$here/match.py" "$program" "$reason" "$missing" "$work/names" "$work/measured.csv" "$work/rows.csv" "$header"
  header=
done <"$work/programs"
