# An attached application computes what it does alone, its counts are the emulator's, and so are those of the same
# program compiled by flux-clang++ with the static runtime.
set -eu
command -v nvcc >/dev/null || { echo "no nvcc"; exit 77; }
nvcc -arch=native -gencode arch=compute_75,code=compute_75 -cudart shared -o app "$SOURCE/tests/counting/apps/saxpy.cu" 2>log ||
  nvcc -gencode arch=compute_75,code=compute_75 -cudart shared -o app "$SOURCE/tests/counting/apps/saxpy.cu"
./app || { echo "no device"; exit 77; }
flux-count --attach -o counts.csv -- ./app | grep -qx right
flux-count "$SOURCE/tests/counting/apps/saxpy.cu" -k saxpy --grid 4 -l 256 -a buf:f32:1024:random -a buf:f32:1024:random \
  -a f32:0.5 -a i32:1000 | awk -F, 'NR > 1 { print $4 "," $5 }' >emulator
awk -F, '$3 == 2 { print $4 "," $5 }' counts.csv >attached
diff emulator attached
echo "attached counts are the emulator's"
