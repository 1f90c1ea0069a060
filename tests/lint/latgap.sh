#!/bin/sh
# latgap.sh SOURCE SHARED   devdb/import/latgap.py on a small table, right and wrong; and, where SHARED has the whole table of
# micro-benchmarks, that rows of devdb/latgap.csv which name one are what it printed.
set -eu
source=$1 data=$2/data/microbench/gpubenches.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compare() { python3 "$source/devdb/import/latgap.py" "$@"; }

cat >"$work/devices.csv" <<'END'
device,l1_per_cu_bytes,l2_bytes,l3_bytes,compute_units,clock_hz
card,100000,1000000,,10,1000000000
END
cat >"$work/lines.csv" <<'END'
benchmark,device,variant,source,line,text
gpu-latency,card,,S,0,clock: 1000 1000
gpu-latency,card,,S,1,1000000 1000 10 20 30
gpu-latency,card,,S,2,1000000 1000 90 20 999
gpu-latency,card,,S,3,1000000 1000 240 20 200
gpu-latency,card,,S,4,1000000 1000 3000 20 500
gpu-cache,card,,S,0,data set exec time spread Eff. bw
gpu-cache,card,,S,1,8 kB 4ms 0.3% 640 GB/s 0 GB/s
END
header=target,measured_on,class,latency_cycles,latency_high_cycles,gap_numerator_cycles,gap_denominator,recommended,src_latency,src_gap
printf '%s\n' "$header" "t,Card,gmem_load_l1,30,30,2,1,yes,S gpu-latency,S gpu-cache/card.txt" \
  "t,Card,gmem_load_l2,200,200,,,yes,S gpu-latency/card.txt," "t,Card,gmem_load_dram,400,490,,,yes,S gpu-latency," >"$work/right.csv"
compare "$work/devices.csv" "$work/lines.csv" "$work/right.csv" >"$work/out"
grep -q "^4 figures compared" "$work/out"
for wrong in "t,Card,gmem_load_l1,32,32,2,1,yes,S gpu-latency," "t,Card,gmem_load_l1,30,30,1,1,yes,S gpu-latency,S gpu-cache/card.txt" \
  "t,Card,gmem_load_l2,999,999,,,yes,S gpu-latency," "t,Card,gmem_load_dram,400,470,,,yes,S gpu-latency,"; do
  printf '%s\n' "$header" "$wrong" >"$work/wrong.csv"
  if compare "$work/devices.csv" "$work/lines.csv" "$work/wrong.csv" >"$work/out"; then echo "accepted: $wrong"; exit 1; fi
done

if [ ! -f "$data" ]; then echo "kernelcast-skipped: no $data"; exit 0; fi
compare "$source/devdb/devices.csv" "$data" "$source/devdb/latgap.csv"
