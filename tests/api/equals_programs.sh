#!/bin/sh
# Usage: equals_programs.sh EXAMPLE MINIEMU PERFCAST RANK IMAGES. The five devices and times of the C examples, the second with
# images, are those of the pipe.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
cat >"$folder/saxpy.cl" <<'END'
__kernel void saxpy(__global const float* x, __global float* y, float a, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] += a * x[i];
}
END
command -v clang-19 >/dev/null || [ -x /usr/lib/llvm-19/bin/clang ] || { echo "kernelcast-skipped: no clang-19"; exit 0; }
cat >"$folder/blur.cl" <<'END'
__kernel void blur(__read_only image2d_t from, __write_only image2d_t to, sampler_t sampler) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  float4 sum = 0;
  for (int y = -1; y <= 1; ++y)
    for (int x = -1; x <= 1; ++x) sum += read_imagef(from, sampler, at + (int2)(x, y));
  write_imagef(to, at, sum / 9);
}
END
compare() {  # example, what miniemu is told
  example=$1 programs="$2 $3 $4"
  shift 4
  "${programs%% *}" "$@" >"$folder/k.csv"
  set -- $programs
  "$2" "$folder/k.csv" | "$3" --quiet | awk -F, 'NR > 1 && NR <= 6 { printf "%2d  %-12s %10.3e s  %s\n", $4, $5, $6, $9 }' >"$folder/pipe"
  "$example" >"$folder/first" 2>"$folder/first.words"
  "$example" >"$folder/second" 2>"$folder/second.words"
  cat "$folder/first" "$folder/first.words" "$folder/second.words"
  diff "$folder/pipe" "$folder/first"
  diff "$folder/first" "$folder/second"
  grep -q "from the cache" "$folder/second.words" || { echo "the second call counted anew"; exit 1; }
}
compare "$1" "$2" "$3" "$4" "$folder/saxpy.cl" -k saxpy -g 1048576 -l 256 -a buf:f32:1048576:zero -a buf:f32:1048576:zero \
  -a f32:2.5 -a i32:1048576
compare "$5" "$2" "$3" "$4" "$folder/blur.cl" -k blur -g 640,480 -l 16,16 -a image2d:rgba8:640x480:zero \
  -a image2d:rgba8:640x480:zero -a sampler:nearest,clamp
