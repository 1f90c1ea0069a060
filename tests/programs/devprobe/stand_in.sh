#!/bin/sh
# devprobe on a CUDA driver without a GPU (stand_in_cuda.c): the whole probe runs, and each way to fail says what it is.
# Usage: stand_in.sh DEVPROBE FOLDER_OF_THE_STAND_IN
. "$(dirname "$0")/stand_in_common.sh"

"$probe" --list >list.csv || fail "--list"
grep -q '^cuda:0,stand-in-gpu,cuda,gpu,Stand-In GPU,NVIDIA,CUDA driver 12.4' list.csv || fail "the device is not listed"
sed -n 2p list.csv | grep -q '^cuda:0' || fail "a GPU stands first"

# All benchmarks: rows of every kind, none failed.
"$probe" --device cuda --quick -o all.csv 2>notes || fail "the whole probe: $(cat notes)"
[ "$(count failed all.csv)" = 0 ] || fail "failed rows: $(grep ,failed, all.csv)"
for metric in clock_hz launch_s launch_delay_s compile_s barrier_s peak_flop_per_s peak_op_per_s global_bandwidth_bytes_per_s \
  shared_bandwidth_bytes_per_s texture_bandwidth_bytes_per_s constant_bandwidth_bytes_per_s load_latency_s \
  atomic_op_per_s copy_bandwidth_bytes_per_s copy_row_s latency_cycles gap_cycles shared_latency_cycles; do
  grep -q ",$metric," all.csv || fail "no row of $metric"
done
grep -q ',launch_throughput_s,.*,in a graph,' all.csv || fail "no launches in a graph"
grep -q ',clock_hz,.*,1400000000,' all.csv || fail "the clock is clocks over nanoseconds"
[ "$(grep -c ',global_bandwidth_bytes_per_s,coalesced,read,4,' all.csv)" -ge 3 ] || fail "no curve over occupancy"

# Lost midway: exit status 5, the rows before it are there; --resume goes on.
STAND_IN_LOST=arithmetic "$probe" --device cuda --quick --bench launch,flops -o lost.csv 2>message
[ $? = 5 ] || fail "a lost device is exit status 5"
grep -q 'the device was lost' message || fail "a lost device is not reported: $(cat message)"
[ "$(count failed lost.csv)" -gt 0 ] || fail "rows that could not be measured are there"
measured launch_s lost.csv || fail "rows before the loss are kept"
"$probe" --device cuda --quick --bench launch,flops --resume lost.csv -o lost.csv 2>message || fail "$(cat message)"
[ "$(grep -c ',launch_s,' lost.csv)" = 1 ] || fail "rows are kept once"
[ "$(count failed lost.csv)" = 0 ] || fail "what had failed is measured again"

# Out of memory: a row, not the end.
STAND_IN_MEMORY=1000000 "$probe" --device cuda --quick --bench global,clock -o memory.csv 2>message || fail "$(cat message)"
grep -q ',failed,"\{0,1\}out of memory on the device' memory.csv || fail "no row says that memory is out"
grep -q ',clock_hz,.*,ok,' memory.csv || fail "what needs little memory is measured"

# No device, a driver that does not start.
STAND_IN_DEVICES=0 "$probe" --device cuda 2>message
[ $? = 5 ] || fail "no device is exit status 5"
grep -q 'sees no device' message || fail "$(cat message)"
STAND_IN_INIT=100 "$probe" --device cuda 2>message
[ $? = 5 ] || fail "a driver that does not start is exit status 5"
grep -q 'does not start' message || fail "$(cat message)"
exit 0
