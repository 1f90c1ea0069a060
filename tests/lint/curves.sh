#!/bin/sh
# curves.sh SOURCE SHARED   devdb/import/gpubenches.py on lines of each benchmark, wrong ones among them; and, where SHARED
# has the whole table, that devdb/curves is what the script makes of it.
set -eu
source=$1 data=$2/data/microbench/gpubenches.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/made"
import() { python3 "$source/devdb/import/gpubenches.py" "$work/made" "$work/devices.csv" "$1"; }

cat >"$work/devices.csv" <<'END'
device,vendor,wave_width,max_threads_per_cu
card,NVIDIA,32,2048
other,AMD,64,2048
END
cat >"$work/lines.csv" <<'END'
benchmark,device,variant,source,line,text
gpu-stream,card,,S,0,blockSize threads %occ | init read scale triad 3pt 5pt
gpu-stream,card,,S,1,16 1728 0.8 % | GB/s: 1 1 1 1 1 1
gpu-stream,card,,S,2,32 3648 3 % | GB/s: 228 96 183 254 168 164
gpu-stream,other,,S,0,block smBlocks threads occ% | init read scale triad 3pt 5pt
gpu-stream,other,,S,1,96 4992 1 4.7% | GB/s: 1 1 1 1 1 1
gpu-stream,other,,S,2,128 6656 2 12.5% | GB/s: 605 472 624 922 594 546
gpu-cache,card,,S,0,clock: 1155 1410
gpu-cache,card,,S,1,data set exec time spread Eff. bw DRAM read
gpu-cache,card,,S,2,8 kB 50ms 0.7% 17195.2 GB/s 0 GB/s
gpu-cache,card,,S,3,8.5 kB 50ms 0.7% 1 GB/s 0 GB/s
gpu-l2-cache,card,,S,0,512 kB 1536 kB 12ms 0.0% 4315.9 GB/s 0 GB/s
gpu-l2-stream,card,,S,0,96 1 10368 383 5% | GB/s: 1 1 1 1 1 1 1 1 1 1 1 1
gpu-l2-stream,card,,S,1,1024 2 10368 383 100% | GB/s: 3 2 1 6 5 4 9 8 7 12 11 10
gpu-latency,card,,S,0,100000 2000 2 5.7 119.4 116.0 116.0 128.0
gpu-latency,other,,S,0,1000000 1000 2 25.5 36.0
gpu-small-kernels,card,,S,0,4096 64kB 40 50 40
gpu-small-kernels,card,graph,S,0,4096 64kB 100 90
gpu-small-kernels,card,gsync,S,0,4096 64kB 80 64
gpu-strides,card,,S,0,float stride 2 2 2.01 64 2.00
gpu-strides,card,,S,1,double block 8 4098 4.03 31.8
gpu-roofline,card,,S,0,anything
END
import "$work/lines.csv"
cat >"$work/wanted" <<'END'
card.csv,cuda,global_bandwidth_bytes_per_s,coalesced,write,8,0.03125,1073741840,228000000000,
card.csv,cuda,global_bandwidth_bytes_per_s,coalesced,read,8,0.03125,1073741840,96000000000,
card.csv,cuda,global_bandwidth_bytes_per_s,coalesced,copy,8,0.03125,2147483680,183000000000,
card.csv,cuda,global_bandwidth_bytes_per_s,coalesced,triad,8,0.03125,4294967360,254000000000,
card.csv,cuda,cache_bandwidth_bytes_per_s,coalesced,read,,,8192,17195200000000,same
card.csv,cuda,cache_bandwidth_bytes_per_s,coalesced,read,,,1572864,4315900000000,turns
card.csv,cuda,cache_bandwidth_bytes_per_s,coalesced,read,8,1,196096,2000000000,stream
card.csv,cuda,cache_bandwidth_bytes_per_s,coalesced,copy,8,1,392192,5000000000,stream
card.csv,cuda,cache_bandwidth_bytes_per_s,coalesced,triad,8,1,784384,8000000000,stream
card.csv,cuda,cache_bandwidth_bytes_per_s,coalesced,write,8,1,196096,11000000000,stream
card.csv,cuda,load_latency_s,random,read,8,,2048,5.8e-08,
card.csv,cuda,launch_throughput_s,,,,,65536,1.31072e-06,copies
card.csv,cuda,launch_throughput_s,,,,,65536,6.5536e-07,copies in a graph
card.csv,cuda,barrier_s,,,,,65536,8.192e-07,grid
card.csv,cuda,load_gap_cycles,stride2,read,4,,,2.01,l1
card.csv,cuda,load_gap_cycles,block8,read,8,,,4.03,l1
other.csv,hip,global_bandwidth_bytes_per_s,coalesced,write,8,0.125,2147483664,605000000000,
other.csv,hip,global_bandwidth_bytes_per_s,coalesced,read,8,0.125,2147483664,472000000000,
other.csv,hip,global_bandwidth_bytes_per_s,coalesced,copy,8,0.125,4294967328,624000000000,
other.csv,hip,global_bandwidth_bytes_per_s,coalesced,triad,8,0.125,8589934656,922000000000,
other.csv,hip,load_latency_s,random,read,8,,2048,3.6e-08,
END
(cd "$work/made" && awk -F, -v OFS=, 'FNR > 1 { print FILENAME, $2, $3, $4, $5, $6, $7, $8, $9, $17 }' card.csv other.csv) >"$work/got"
diff -u "$work/wanted" "$work/got"

# What is wrong ends it, with its place.
refused() {
  printf 'benchmark,device,variant,source,line,text\n%s\n' "$1" >"$work/wrong.csv"
  if import "$work/wrong.csv" 2>"$work/message"; then echo "accepted: $1"; exit 1; fi
  grep -q "wrong.csv:2: $2" "$work/message" || { echo "not '$2':"; cat "$work/message"; exit 1; }
}
refused 'gpu-latency,card3,,S,0,1 1 1 1 1' "no device 'card3'"
refused 'gpu-late,card,,S,0,1 1 1 1 1' "no benchmark 'gpu-late'"
refused 'gpu-latency,card,,S,0,1000 1000 2 25.5 0' "no value above 0"
refused 'gpu-stream,card,,S,0,32 3648 3' "no rates"

if [ ! -f "$data" ]; then echo "kernelcast-skipped: no $data"; exit 0; fi
rm -f "$work"/made/*
cp "$source/devdb/devices.csv" "$work/devices.csv"
import "$data"
for file in "$work"/made/*.csv; do
  cmp -s "$file" "$source/devdb/curves/$(basename "$file")" || {
    echo "devdb/curves/$(basename "$file") is not what devdb/import/gpubenches.py makes: make curves GPUBENCHES=$data"
    exit 1
  }
done
