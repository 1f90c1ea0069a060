#!/bin/sh
# What run.sh needs on a machine with a CUDA toolkit and little else: the programs, the libraries they load, the PTX of
# the launch files, and the launches of applications, which run on the emulator here. Carry the folder there and name it
# with `run.sh --build FOLDER`.
# Usage: tests/gpu/pack.sh BUILD FOLDER [APPLICATION...]    APPLICATION: a program of CUDA or OpenCL, with its arguments
set -eu
[ $# -ge 2 ] || { echo "usage: tests/gpu/pack.sh BUILD FOLDER [APPLICATION...]" >&2; exit 2; }
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2/bin" "$2/lib/needed" "$2/ptx" "$2/programs"
folder=$(cd "$2" && pwd)
shift 2
for program in akemu devprobe flux-count gpu_kernel_times gpu_replay miniemu perfcast test_emulator; do
  cp "$build/bin/$program" "$folder/bin"
done
cp "$build"/lib/kernelcast-flux*.so "$folder/lib"
# What every machine has stays away.
ldd "$folder"/bin/* "$folder"/lib/*.so |
  awk '$3 ~ /^\// && $1 !~ /^(libc|libm|libstdc\+\+|libgcc_s|libpthread|libdl|librt)\.so/ { print $3 }' |
  sort -u | xargs -r cp -Lt "$folder/lib/needed"
strip "$folder"/bin/* "$folder"/lib/*.so
# Without a device the part compiles what the folder lacks.
rm -f "$folder"/ptx/*
"$source/tests/gpu/run.sh" --build "$folder" --out "$folder/log" --budget 3600 kernels
n=0
for application; do
  n=$((n + 1))
  # shellcheck disable=SC2086  # a program and its arguments
  "$build/bin/miniemu" --attach --quiet --no-registers --keep "$folder/programs/$n-$(basename "${application%% *}")" \
    -o "$folder/log/$n.csv" -- $application >"$folder/log/$n.out"
done
rm -rf "$folder"/programs/*/cuda "$folder/log"
du -sh "$folder"
