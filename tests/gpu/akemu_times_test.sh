# checks/akemu_times.sh on a CUDA driver without a GPU, whose times are those of no kernel: the table is complete, its
# error that of the rows, the limit decides; without a device it is skipped and says why.
# Usage: akemu_times_test.sh BIN SOURCE FOLDER_OF_THE_STAND_IN
set -u
export BIN=$1 SOURCE=$2
export WORKLOADS="polybench/gemm_small polybench/atax_small"
cd "$(mktemp -d)" || exit 2
trap 'rm -rf "$PWD"' EXIT
fail() { echo "akemu_times_test.sh: $*" >&2; exit 1; }
check() { LD_LIBRARY_PATH=$stand_in DEVICE=v100 sh "$SOURCE/tests/gpu/checks/akemu_times.sh" >out 2>err; }

stand_in=$3
LIMIT=50 check
[ $? = 1 ] || fail "times of no kernel are not within 50 %: $(cat out err)"
[ "$(grep -c '^| [a-z]' out)" = 4 ] || fail "a header and three kernels are expected: $(cat out err)"
grep -q '^| gemm | gemm_small | 0.001 s | .* | -100 % |' out || fail "gemm's row: $(cat out err)"
grep -q '^3 kernels: mean absolute error 9[0-9]\.[0-9] %' out || fail "the error: $(cat out err)"
[ -s akemu_times_no_cache.md ] || fail "the table without caches"
LIMIT=2e6 check || fail "within a limit that all keep: $(cat out err)"
STAND_IN_DEVICES=0 check
[ $? = 77 ] || fail "no device: skipped: $(cat out err)"
grep -q 'no CUDA device\|sees no device' out || fail "why: $(cat out err)"
exit 0
