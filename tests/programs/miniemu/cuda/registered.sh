#!/bin/sh
# Usage: registered.sh MINIEMU APPLICATION LAUNCH_FILE RUNTIMES DEVDB: an application that needs no nvcc, in all its cases, and the rows
# of one of its kernels beside those of the same launch from a file.
set -eu
miniemu=$1 app=$2 launch=$3 runtimes=$4 database=$5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
run() { case=$1; shift; status=0; "$miniemu" --attach --no-registers -o "$folder/$case.csv" "$@" -- "$app" "$case" >"$folder/$case.out" 2>"$folder/$case.err" || status=$?; }
fail() { echo "$1"; cat "$folder/$case.out" "$folder/$case.err"; exit 1; }
for case in usual lz4 zstd newer fault broken touched; do
  run $case
  [ $status = 7 ] || fail "$case: exit status $status"
  tail -1 "$folder/$case.out" | grep -qx "0 failures" || fail "$case: failures"
done
case=usual
[ "$(grep -c 'cudaIpcGetMemHandle is not supported' "$folder/usual.err")" = 1 ] || fail "an unsupported call is not named once"
[ "$(grep -vc "the application is told of 16" "$folder/usual.err")" = 1 ] || fail "more on standard error than that"
case=newer
grep -q 'sm_121' "$folder/newer.err" || fail "nothing said about PTX for newer devices"
case=fault
grep -q "kernel 'scale', line 2[0-9] of its PTX: global load of 4 bytes" "$folder/fault.err" || fail "the fault is not named"
grep -qx cudaErrorIllegalAddress "$folder/fault.out" || fail "another error"
grep -q "kernel 'scale' has no row" "$folder/fault.err" || fail "the kernel that failed has a row, or no message says why it has none"

# The columns of a row, by name; the kernel's launches of the first sizes.
cell() { awk -F, -v want="$2" -v kernel="${3:-scale}" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == want) at = i } NR > 1 && $1 == kernel { print $at; exit }' "$1"; }
for groups in first all 3 spread; do
  case=usual
  run usual --groups $groups
  "$miniemu" --no-registers --groups $groups "$launch" >"$folder/file.csv"
  n=$(cell "$folder/usual.csv" launches)
  [ "$n" = 7 ] || fail "--groups $groups: $n launches of scale"
  for column in kernel grid_x block_x groups_emulated spread_pct shared_bytes global_footprint_bytes; do
    [ "$(cell "$folder/usual.csv" $column)" = "$(cell "$folder/file.csv" $column)" ] ||
      fail "--groups $groups: $column is $(cell "$folder/usual.csv" $column), in a file $(cell "$folder/file.csv" $column)"
  done
  for column in groups_total inst_total issues_fp32_w32 branches global_load_bytes global_store_tx_w32_s32; do
    awk -v n="$n" -v all="$(cell "$folder/usual.csv" $column)" -v one="$(cell "$folder/file.csv" $column)" 'BEGIN { exit n * one == all ? 0 : 1 }' ||
      fail "--groups $groups: $column is $(cell "$folder/usual.csv" $column), in a file $(cell "$folder/file.csv" $column)"
  done
done

# What its five launches of 1 MiB find, all groups emulated or some.
case=touched
for groups in all spread; do
  run touched --groups $groups
  touched=$(cell "$folder/touched.csv" touched_before)
  [ "$touched" = "20:2097152;21:1048576" ] || fail "--groups $groups: touched_before is $touched"
done

# The machine code of two targets, where it can be had: as of a file.
if command -v ptxas >/dev/null && command -v nvdisasm >/dev/null; then
  case=machine
  "$miniemu" --attach --no-registers --machine-code sm_80,ptx,sm_90 -o "$folder/machine.csv" -- "$app" usual >"$folder/machine.out" 2>"$folder/machine.err" || true
  "$miniemu" --no-registers --machine-code sm_80,sm_90 "$launch" >"$folder/file.csv"
  for target in sm_80 sm_90; do
    for table in machine file; do
      awk -F, -v t=$target 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "target") at = i } NR == 1 || $at == t' "$folder/$table.csv" >"$folder/$table-$target.csv"
    done
    for column in target registers_target code_slots grid_x; do
      [ "$(cell "$folder/machine-$target.csv" $column)" = "$(cell "$folder/file-$target.csv" $column)" ] ||
        fail "$target: $column is $(cell "$folder/machine-$target.csv" $column), in a file $(cell "$folder/file-$target.csv" $column)"
    done
    [ "$(cell "$folder/machine-$target.csv" target)" = $target ] || fail "no row of $target"
    grep -q '^scale,' "$folder/usual.csv" && [ "$(grep -c '^scale,' "$folder/machine.csv")" = $((3 * $(grep -c '^scale,' "$folder/usual.csv"))) ] || fail "not three rows a launch"
    for column in slots_fp32 slots_alu slots_imad slots_memory slots_issue; do
      awk -v n="$n" -v all="$(cell "$folder/machine-$target.csv" $column)" -v one="$(cell "$folder/file-$target.csv" $column)" 'BEGIN { exit n * one == all ? 0 : 1 }' ||
        fail "$target: $column is $(cell "$folder/machine-$target.csv" $column), in a file $(cell "$folder/file-$target.csv" $column)"
    done
  done
  case=usual
else
  echo "without machine code: no ptxas or nvdisasm"
fi

# As if there were a GPU: our runtime is the application's own, and observed. Rows then come from launch files.
status=0
case=usual
KERNELCAST_DEVDB=$database LD_LIBRARY_PATH=$runtimes "$miniemu" --attach --with-gpu --no-registers --keep "$folder/kept" -o "$folder/gpu.csv" \
  -- "$app" usual >"$folder/gpu.out" 2>"$folder/gpu.err" || status=$?
[ $status = 7 ] || { echo "--with-gpu: status $status"; cat "$folder/gpu.out" "$folder/gpu.err"; exit 1; }
cmp "$folder/gpu.out" "$folder/usual.out"
run usual
for kernel in scale variables busy; do
  for column in kernel launches groups_total shared_bytes inst_total global_load_bytes global_store_tx_w32_s32 const_bytes atomics_global; do
    [ "$(cell "$folder/usual.csv" $column $kernel)" = "$(cell "$folder/gpu.csv" $column $kernel)" ] ||
      fail "$kernel with a GPU: $column is $(cell "$folder/gpu.csv" $column $kernel), on the emulator $(cell "$folder/usual.csv" $column $kernel)"
  done
done
grep -q 'weights\[16\] = {0,0,128,63,0,0,0,64,0,0,240,65,0,0,128,64};' "$folder"/kept/program-*.ptx || { echo "a variable has another value"; exit 1; }

# All that is allocated at a launch, not only what it is passed; the emulator allots in units of 512 bytes.
[ "$(cell "$folder/usual.csv" allocated_bytes variables)" = 512 ] && [ "$(cell "$folder/gpu.csv" allocated_bytes variables)" = 4 ] ||
  fail "allocated_bytes: $(cell "$folder/usual.csv" allocated_bytes variables), $(cell "$folder/gpu.csv" allocated_bytes variables)"

status=0
"$miniemu" --attach --as nothing -o "$folder/x.csv" -- "$app" 2>"$folder/x.err" || status=$?
[ $status = 5 ] || { echo "--as nothing: status $status"; exit 1; }
echo "rows equal to those of a launch file"
