#!/bin/sh
# flux-count --attach on an application whose CUDA runtime is the stand-in: it computes what it does alone, and its
# counts are those that the emulator gives for the same launches. Usage: attach.sh BIN SOURCE STANDIN_FOLDER
set -eu
bin=$1 here=$2/tests/counting standin=$3
command -v nvcc >/dev/null || { echo "kernelcast-skipped: no nvcc"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
nvcc -arch=sm_75 -cudart shared -o "$folder/app" "$here/app.cu" 2>"$folder/nvcc.log" || { cat "$folder/nvcc.log"; exit 1; }
LD_LIBRARY_PATH=$standin${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

[ "$("$folder/app")" = right ] || { echo "the application alone is wrong"; exit 1; }
"$bin/flux-count" --attach -o "$folder/counts.csv" -- "$folder/app" >"$folder/words"
grep -qx right "$folder/words" || { echo "attached, the application is wrong:"; cat "$folder/words"; exit 1; }

# opcode,executed of one launch
attached() { awk -F, -v l="$1" 'NR > 1 && $3 == l { print $4 "," $5 }' "$folder/counts.csv"; }
emulated() { "$bin/flux-count" "$here/app.cu" "$@" --no-cache --quiet | awk -F, 'NR > 1 { print $4 "," $5 }'; }
same() {  # launch, options of flux-count for the same launch
  launch=$1
  shift
  attached "$launch" >"$folder/a"
  emulated "$@" >"$folder/e"
  [ -s "$folder/a" ] || { echo "launch $launch has no rows"; cat "$folder/counts.csv"; exit 1; }
  diff "$folder/a" "$folder/e" || { echo "launch $launch differs"; exit 1; }
}
b=buf:f32:1024:random
same 0 -k fill --grid 4 -l 256 -a $b -a f32:2
same 1 -k fill --grid 4 -l 256 -a $b -a f32:1
same 2 -k saxpy --grid 4 -l 256 -a $b -a $b -a f32:0.5 -a i32:1000
same 4 -k saxpy --grid 4 -l 256 -a $b -a $b -a f32:0.5 -a i32:800
same 5 -k power --grid 1 -l 64 -a $b -a i32:7
[ "$(awk -F, 'NR > 1 { print $3 }' "$folder/counts.csv" | sort -u | wc -l)" = 6 ] || { echo "not six launches"; exit 1; }

# Machine code alone cannot be instrumented: the application runs (the stand-in leaves its results wrong), its exit status
# is its own, and each launch has a row that says why it has no counts.
nvcc -gencode arch=compute_75,code=sm_75 -cudart shared -o "$folder/bare" "$here/app.cu" 2>/dev/null
status=0
"$bin/flux-count" --attach -o "$folder/bare.csv" -- "$folder/bare" >/dev/null 2>"$folder/words" || status=$?
[ $status = 5 ] || { echo "status $status is not the application's"; exit 1; }
[ "$(grep -c ',uncounted,.*holds no PTX' "$folder/bare.csv")" = 6 ] || { cat "$folder/bare.csv"; exit 1; }
grep -q "kernel '_Z5saxpyPKfPffi': the program holds no PTX" "$folder/words" || { cat "$folder/words"; exit 1; }
echo "attached counts are the emulator's"
