#!/bin/sh
# Inputs that HeCBench's programs read and its repository does not have: as many numbers, points, pixels, nodes as the
# measured grids have, with random content. What the kernels count does not depend on it, or (bfs, lanczos, b+tree) on how
# the graph or the keys are distributed: a random graph of degree 2 to 4 each way, one by preferential attachment with
# three edges a node in both directions (as its gengraph.py), a permutation.
#   inputs.sh SRC       the folder of the programs; files that exist stay as they are
set -eu
cd "$1"
random='function random() { state = (state * 16807) % 2147483647; return state / 2147483647 } BEGIN { state = 20240607 }'
make() {  # FILE PROGRAM_OF_AWK
  [ -s "$1" ] && return
  mkdir -p "$(dirname "$1")"
  awk "$random $2" >"$1"
}
noise() {  # FILE HEADER BYTES
  [ -s "$1" ] && return
  mkdir -p "$(dirname "$1")"
  # shellcheck disable=SC2059
  { printf "$2"; seq 1 9000000 | gzip -n | head -c "$3"; } >"$1"
}
make data/hotspot/temp_512 'BEGIN { for (i = 0; i < 512 * 512; ++i) print 323 + 20 * random() }'
make data/hotspot/power_512 'BEGIN { for (i = 0; i < 512 * 512; ++i) print random() / 1000 }'
make data/hotspot3D/temp_512x8 'BEGIN { for (i = 0; i < 512 * 512 * 8; ++i) print 323 + 20 * random() }'
make data/hotspot3D/power_512x8 'BEGIN { for (i = 0; i < 512 * 512 * 8; ++i) print random() / 1000 }'
for i in 0 1 2 3; do
  make data/nn/cane4_$i.db 'BEGIN { for (i = 0; i < 10691; ++i)
    printf "%-28s%5.1f%5.1f%10s\n", i, 10 + 50 * random(), 20 + 100 * random(), "" }'
done
make mcpr-cuda/alphas.csv 'BEGIN { for (i = 0; i < 26280; ++i) { for (k = 0; k < 21; ++k) printf "%f ", 2 * random() - 1; print "" } }'
make data/bfs/graph1MW_6.txt 'BEGIN {
  n = 1000000
  for (i = 0; i < n; ++i)
    for (e = 2 + int(3 * random()) - degree[i]; e > 0; --e) {
      to = int(n * random())
      list[i] = list[i] " " to; ++degree[i]
      list[to] = list[to] " " i; ++degree[to]
    }
  print n
  for (i = 0; i < n; ++i) { print sum + 0, degree[i] + 0; sum += degree[i] }
  print "\n" 0 "\n\n" sum
  for (i = 0; i < n; ++i) { m = split(list[i], ends, " "); for (e = 1; e <= m; ++e) print ends[e], 1 + int(10 * random()) } }'
make lanczos-cuda/data/social-large-800k.txt 'BEGIN {
  for (i = 3; i < 800000; ++i)
    for (e = 0; e < 3; ++e) {
      to = i == 3 ? e : ends[int(count * random())]
      print i, to; print to, i
      ends[count++] = i; ends[count++] = to
    } }'
make data/b+tree/mil.txt 'BEGIN { n = 1000000
  for (i = 1; i <= n; ++i) key[i] = i
  for (i = n; i > 1; --i) { j = 1 + int(i * random()); t = key[i]; key[i] = key[j]; key[j] = t }
  print n; for (i = 1; i <= n; ++i) print key[i] }'
make data/b+tree/command.txt 'BEGIN { print "j 6000 3000"; print "k 10000" }'
make d2q9-bgk-cuda/Inputs/input_256x256.params 'BEGIN { print 256; print 256; print 80000; print 128; print 0.1; print 0.005; print 1.7 }'
make d2q9-bgk-cuda/Obstacles/obstacles_256x256.dat 'BEGIN { for (i = 0; i < 256; ++i) { print i, 0, 1; print i, 255, 1; print 0, i, 1; print 255, i, 1 } }'
make sa-cuda/genome.txt 'BEGIN { for (i = 0; i < 1000000; ++i) printf "%s", substr("ACGT", 1 + int(4 * random()), 1) }'
noise medianfilter-sycl/data/SierrasRGB.ppm 'P6\n1920 1080\n255\n' 6220800
noise recursiveGaussian-cuda/StoneRGB.ppm 'P6\n1920 1080\n255\n' 6220800
f=mriQ-cuda/datasets/128x128x128/input/128x128x128.bin
[ -s $f ] || { mkdir -p mriQ-cuda/datasets/128x128x128/input; { printf '\000\000\040\000\000\000\040\000'; head -c 67108864 /dev/zero; } >$f; }
