# gpu_kernel_times on a CUDA driver without a GPU, on which a launch takes a millisecond and more: a row for each kernel and
# way, launches that stand for others count for them, PTX of a folder is taken; without a device it is only compiled.
# Usage: kernel_times_test.sh BIN SOURCE FOLDER_OF_THE_STAND_IN
set -u
times=$1/gpu_kernel_times stand_in=$3
suite=$2/bench-suites/polybench devdb=$2/devdb
cd "$(mktemp -d)" || exit 2
trap 'rm -rf "$PWD"' EXIT
fail() { echo "kernel_times_test.sh: $*" >&2; exit 1; }

"$times" --ptx ptx "$devdb" "$suite/lu.toml" --set small >out 2>err
[ $? = 77 ] || fail "no device: skipped: $(cat out err)"
grep -q '\.entry lu_update' ptx/polybench_lu_lu_small.ptx || fail "what was compiled stays in the folder"

export LD_LIBRARY_PATH="$stand_in${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
"$times" --ptx ptx --device h200 "$devdb" "$suite/lu.toml" --set small "$suite/atax.toml" --set small >out 2>err ||
  fail "$(cat err)"
[ "$(head -n 1 out)" = suite,program,kernel,case,device,cache,time_s ] || fail "the header: $(head -n 1 out)"
for cache in program warm cold back_to_back; do
  for kernel in lu,lu_divide,lu_small lu,lu_update,lu_small atax,atax_rows,atax_small atax,atax_columns,atax_small; do
    grep -q "^h200,polybench/$kernel,h200,$cache,[0-9.e-]*\$" out || fail "$kernel, $cache: $(cat out)"
  done
done
# 44 launches each; 50 back to back are timed as one.
awk -F, '$3 == "lu_update" { s[$6] = $7 }
  END { exit !(s["program"] > 0.044 && s["program"] < 0.046 && s["cold"] / s["program"] > 0.99 &&
               s["cold"] / s["program"] < 1.01 && s["back_to_back"] * 40 < s["program"]) }' out || fail "times: $(cat out)"

echo broken >ptx/polybench_lu_lu_small.ptx
"$times" --caches cold --ptx ptx --device h200 "$devdb" "$suite/lu.toml" --set small "$suite/atax.toml" --set small >out 2>err
[ $? = 1 ] || fail "a launch file that cannot be timed: status 1"
grep -q 'lu_small.ptx' err || fail "why: $(cat err)"
[ "$(wc -l <out)" = 3 ] || fail "others are timed all the same: $(cat out)"
"$times" --caches cold,hot "$devdb" "$suite/lu.toml" 2>err
[ $? = 2 ] || fail "an unknown way is an error on the command line"
exit 0
