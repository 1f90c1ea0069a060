#!/bin/sh
# flux-count --attach: each run of a CUDA graph, captured or built of nodes, gives rows for each of its kernels.
. "$(dirname "$0")/attached.sh"
build graphs -arch=sm_75 "$apps/graphs.cu"
attach graphs 0
! grep -q uncounted "$folder/graphs.csv" || { grep uncounted "$folder/graphs.csv"; exit 1; }

# kernel, work-items, lanes that store (add) or multiply (loop): one line for each launch.
awk -F, '
  NR == 1 { for (c = 1; c <= NF; ++c) at[$c] = c; next }
  { items[$3] = $at["grid_x"] * $at["block_x"]; kernel[$3] = $1 ~ /add/ ? "add" : "loop" }
  $1 ~ /add/ && $4 == "st.global.u32" || $1 ~ /loop/ && $4 == "mul.lo.s32" { done[$3] += $5 }
  END { for (l in kernel) print kernel[l], items[l], done[l] }' "$folder/graphs.csv" | sort >"$folder/got"
# Captured, three runs; built: two nodes of add and one of loop, then changed in the executable graph, then in the graph.
sort >"$folder/expected" <<'ROWS'
add 1024 700
add 1024 1000
add 1024 1000
add 1024 1000
add 512 300
add 512 300
add 512 300
loop 64 192
loop 64 192
loop 64 192
add 1024 100
loop 32 64
add 256 100
add 1024 100
loop 16 64
loop 8 32
add 1024 50
loop 32 64
add 256 100
add 1024 100
loop 16 64
loop 8 32
ROWS
diff "$folder/expected" "$folder/got"
echo "22 launches of graphs and before them are counted"
