#!/bin/sh
# flux-count --attach: an application computes what it does alone, and its counts are those that the emulator gives for
# the same launches.
. "$(dirname "$0")/attached.sh"
build saxpy -arch=sm_75 "$apps/saxpy.cu"
attach saxpy 0

same() {  # launch, options of flux-count for the same launch
  launch=$1
  shift
  awk -F, -v l="$launch" 'NR > 1 && $3 == l { print $4 "," $5 }' "$folder/saxpy.csv" >"$folder/a"
  emulated "$apps/saxpy.cu" "$@" >"$folder/e"
  [ -s "$folder/a" ] || { cat "$folder/saxpy.csv"; fail "launch $launch has no rows"; }
  diff "$folder/a" "$folder/e" || fail "launch $launch differs"
}
b=buf:f32:1024:random
same 0 -k fill --grid 4 -l 256 -a $b -a f32:2
same 1 -k fill --grid 4 -l 256 -a $b -a f32:1
same 2 -k saxpy --grid 4 -l 256 -a $b -a $b -a f32:0.5 -a i32:1000
same 4 -k saxpy --grid 4 -l 256 -a $b -a $b -a f32:0.5 -a i32:800
same 5 -k power --grid 1 -l 64 -a $b -a i32:7
[ "$(launches saxpy)" = 6 ] || fail "not six launches"

# Metrics and features too, of the launches that end with the application.
for emit in groups features; do
  "$bin/flux-count" --attach --emit $emit -o "$folder/$emit.csv" -- "$folder/saxpy" >/dev/null
  "$bin/flux-count" "$apps/saxpy.cu" -k power --grid 1 -l 64 -a $b -a i32:7 --no-cache --emit $emit >"$folder/e.csv"
done
grep -q '_Z5powerPfi,64/64,5,flop_count_sp_mul,189,' "$folder/groups.csv" || { grep sp_mul "$folder/groups.csv"; exit 1; }
for file in features e; do grep '^_Z5power' "$folder/$file.csv" | cut -d, -f3-12 >"$folder/$file.power"; done
diff "$folder/features.power" "$folder/e.power" || fail "features differ"

# Machine code alone cannot be instrumented: the application runs (the stand-in leaves its results wrong), and each launch
# has a row that says why it has no counts.
build bare -gencode arch=compute_75,code=sm_75 "$apps/saxpy.cu"
attach bare 5
[ "$(grep -c ',uncounted,.*holds no PTX' "$folder/bare.csv")" = 6 ] || { cat "$folder/bare.csv"; exit 1; }
grep -q "kernel '_Z5saxpyPKfPffi': the program holds no PTX" "$folder/bare.err" || { cat "$folder/bare.err"; exit 1; }

# The static runtime is out of reach: said, with what helps.
nvcc -arch=sm_75 -cudart static -o "$folder/static" "$apps/saxpy.cu" 2>"$folder/nvcc.log" || { cat "$folder/nvcc.log"; exit 1; }
"$bin/flux-count" --attach -o "$folder/static.csv" -- "$folder/static" >/dev/null 2>"$folder/words" || true
grep -q "holds the static CUDA runtime" "$folder/words" || { cat "$folder/words"; exit 1; }
grep -q "nvcc -cudart shared, or flux-clang++" "$folder/words" || { cat "$folder/words"; exit 1; }
echo "attached counts are the emulator's"
