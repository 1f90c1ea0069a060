#!/bin/sh
# devprobe on an OpenCL driver without a GPU (stand_in_opencl.c): the whole probe runs, and each way to fail says what
# it is. Usage: stand_in_opencl.sh DEVPROBE FOLDER_OF_THE_STAND_IN
. "$(dirname "$0")/stand_in_common.sh"

"$probe" --list >list.csv || fail "--list"
grep -q '^opencl:0,stand-in-gpu,opencl,gpu,Stand-In GPU,Stand-In Vendor,Stand-In Platform 1.0' list.csv || fail "$(cat list.csv)"

# All benchmarks: none fails; what the driver's clock says of a launch.
"$probe" --device opencl --quick -o all.csv 2>notes || fail "the whole probe: $(cat notes)"
[ "$(count failed all.csv)" = 0 ] || fail "failed rows: $(grep ,failed, all.csv)"
grep -q ',launch_delay_s,.*,0.000005,' all.csv || grep -q ',launch_delay_s,.*,5e-06,' all.csv || fail "the delay of a launch"

# Lost midway: exit status 5, the rows before it are there; --resume goes on.
STAND_IN_LOST=arithmetic "$probe" --device opencl --quick --bench launch,flops -o lost.csv 2>message
[ $? = 5 ] || fail "a lost device is exit status 5"
grep -q 'the device was lost' message || fail "a lost device is not reported: $(cat message)"
[ "$(count failed lost.csv)" -gt 0 ] || fail "rows that could not be measured are there"
measured launch_s lost.csv || fail "rows before the loss are kept"
"$probe" --device opencl --quick --bench launch,flops --resume lost.csv -o lost.csv 2>message || fail "$(cat message)"
[ "$(count failed lost.csv)" = 0 ] || fail "what had failed is measured again"
[ "$(grep -c ',launch_s,' lost.csv)" = 1 ] || fail "rows are kept once"

# Out of memory: a row, not the end.
STAND_IN_MEMORY=100000 "$probe" --device opencl --quick --bench global,launch -o memory.csv 2>message || fail "$(cat message)"
grep -q ',failed,"\{0,1\}out of memory on the device' memory.csv || fail "no row says that memory is out"
measured launch_s memory.csv || fail "what needs little memory is measured"

# Kernels that do not compile: a row each, with the compiler's words.
STAND_IN_BUILD=-11 "$probe" --device opencl --quick --bench launch,copy -o build.csv 2>message || fail "$(cat message)"
grep -q ",launch_s,.*does not compile the kernel: error: unknown type name 'half'" build.csv || fail "$(cat build.csv)"
grep -q ',copy_bandwidth_bytes_per_s,.*,\(ok\|doubtful\),' build.csv || fail "what needs no kernel is measured"

# No device; a device that is not given.
STAND_IN_DEVICES=0 "$probe" --device opencl 2>message
[ $? = 5 ] || fail "no device is exit status 5"
grep -q 'no driver has such a device' message || fail "$(cat message)"
STAND_IN_CONTEXT=-2 "$probe" --device opencl --bench launch 2>message
[ $? = 5 ] || fail "a device that is not given is exit status 5"
grep -q 'the driver does not give the device' message || fail "$(cat message)"
exit 0
