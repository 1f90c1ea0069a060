#!/bin/sh
# Usage: equals_programs.sh EXAMPLE MINIEMU PERFCAST RANK. The C example's five devices and times are those of the pipe.
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
"$2" "$folder/saxpy.cl" -k saxpy -g 1048576 -l 256 -a buf:f32:1048576:zero -a buf:f32:1048576:zero -a f32:2.5 \
  -a i32:1048576 | "$3" >"$folder/p.csv"
"$4" --quiet "$folder/p.csv" | awk -F, 'NR > 1 && NR <= 6 { printf "%2d  %-12s %10.3e s  %s\n", $4, $5, $6, $9 }' >"$folder/pipe"
"$1" >"$folder/first" 2>"$folder/first.words"
"$1" >"$folder/second" 2>"$folder/second.words"
cat "$folder/first" "$folder/first.words" "$folder/second.words"
diff "$folder/pipe" "$folder/first"
diff "$folder/first" "$folder/second"
grep -q "from the cache" "$folder/second.words" || { echo "the second call counted anew"; exit 1; }
