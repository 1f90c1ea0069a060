# Attached applications compute what they do alone, every launch is counted, and counts are the emulator's: launches on
# streams, from host threads, on several devices where there are, cooperative, in captured graphs and graphs of nodes.
# seconds: 15
set -eu
command -v nvcc >/dev/null || { echo "no nvcc"; exit 77; }
apps=$SOURCE/tests/programs/flux-count/apps
for app in saxpy graphs threads; do
  nvcc -std=c++17 -gencode arch=compute_75,code=compute_75 -cudart shared -o $app "$apps/$app.cu"
  ./$app >alone || { cat alone; echo "no device"; exit 77; }
  flux-count --attach -o $app.csv -- ./$app >attached
  cmp alone attached
  if grep uncounted $app.csv; then exit 1; fi
done
launches() { awk -F, 'NR > 1 { print $3 }' $1.csv | sort -u | wc -l; }
[ "$(launches saxpy) $(launches graphs) $(launches threads)" = "6 22 48" ]

flux-count "$apps/saxpy.cu" -k saxpy --grid 4 -l 256 -a buf:f32:1024:random -a buf:f32:1024:random -a f32:0.5 \
  -a i32:1000 | awk -F, 'NR > 1 { print $4 "," $5 }' >emulator
awk -F, '$3 == 2 { print $4 "," $5 }' saxpy.csv >attached
diff emulator attached
echo "76 launches of three applications are counted, as the emulator counts"
