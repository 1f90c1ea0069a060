#!/bin/sh
# Counts a time step of FluidX3D's benchmark, D3Q19 in FP32, and writes its kernel row.
#
#   run.sh MINIEMU DEVDB SOURCES MISSING <measured/fluidx3d.csv >kernels/fluidx3d.csv
#
# SOURCES: a checkout of ProjectPhysX/FluidX3D. Its benchmark is built with FP16 taken out and one step instead of 10,000, and
# runs attached; 256 groups of the step are emulated.
# MISSING: gets suite,kernel,case,reason; there is a row for the only launch
set -eu
miniemu=$1 devdb=$2 sources=$3 missing=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$sources/src" "$work/src"
sed -i 's,^#define FP16[SC],//&,' "$work/src/defines.hpp"
sed -i 's,i<1000u,i<1u,; s,lbm.run(10u,lbm.run(1u,' "$work/src/setup.cpp"
(cd "$work/src" && g++ -std=c++17 -O1 -w -pthread -I OpenCL/include ./*.cpp -o "$work/FluidX3D" -lOpenCL)
"$miniemu" --attach --quiet --as a100 --devdb "$devdb" --groups 256 --timeout 600 -o "$work/rows.csv" -- "$work/FluidX3D" >&2
echo suite,kernel,case,reason >"$missing"
{ head -n 1 "$work/rows.csv"; grep '^stream_collide,' "$work/rows.csv" | head -n 1; } >"$work/step.csv"
awk -f "$here/../../../csv.awk" -f "$here/../label.awk" kernel=stream_collide label=16777216/64 first=1 "$work/step.csv"
