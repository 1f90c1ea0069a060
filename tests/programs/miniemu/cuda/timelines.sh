#!/bin/sh
# Usage: timelines.sh MINIEMU PERFCAST RANK APPLICATION DEVDB: whole times of applications beside their closed forms.
#
# B: the kernel; L: a lone launch, 1 us here, which is less than what lies between two in a row, so that each of these is L,
# too; C: a sum over two devices by NCCL's ring of two steps each way; N: between two nodes of a graph; X: 64 MiB over the link of 10 GB/s; P: from pageable memory; Y: over NVLink 3 of 300
# GB/s; l: a copy's latency.
set -eu
miniemu=$1 perfcast=$2 rank=$3 app=$4 devdb=$5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cell() { awk -F, -v file="$1" -v column="$2" -v row="$3" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == column) at = i } $0 ~ row { print $at; exit }' "$1"; }
link() { awk -F, -v column="$1" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == column) at = i } $1 == "PCIe 4.0" { print $at }' "$devdb/host_links.csv"; }
staging=$(link staging_bytes_per_s) fault=$(link fault_bytes_per_s) latency=$(link latency_s)
failed=0 applications=0 system=
expect() {  # APPLICATION TOLERANCE FORM
  "$miniemu" --attach --as a100 --as a100 --no-registers --groups 1 --quiet --commands "$folder/commands.csv" -o "$folder/rows.csv" -- \
    "$app" "$1" >"$folder/out" 2>"$folder/err" || { cat "$folder/out" "$folder/err"; exit 1; }
  "$perfcast" --quiet --devdb "$devdb" --device a100 --launch-cost 1e-6 "$folder/rows.csv" -o "$folder/times.csv"
  # shellcheck disable=SC2086
  "$rank" --quiet --devdb "$devdb" --total --commands "$folder/commands.csv" --link 1e10 $system "$folder/times.csv" -o "$folder/total.csv"
  applications=$((applications + 1))
  launches=$(cell "$folder/rows.csv" launches '^work')
  # shellcheck disable=SC2086
  awk -v name="$1" -v tolerance="$2" -v seen="$(cell "$folder/total.csv" time_s '^queue,total')" \
    -v time="$(cell "$folder/times.csv" time_s '^work')" -v launches="$launches" \
    -v staging="$staging" -v fault="$fault" -v l="$latency" "
    BEGIN {
      L = 1e-6; N = 0.18e-6; B = time / launches - L; X = 67108864 / 1e10; P = X + 67108864 / staging; F = 67108864 / fault; Y = 67108864 / (0.84 * 300e9); C = 15.2e-6 + 67108864 / 240e9
      expected = $3
      error = seen / expected - 1
      printf \"%-10s %.6g s, by hand %.6g s, %+.3f %%\\n\", name, seen, expected, 100 * error
      exit !(error < tolerance && -error < tolerance)
    }
    function max(a, b) { return a > b ? a : b }" || failed=$((failed + 1))
}
expect waited 1e-6 '10 * (L + B)'
expect queued 1e-6 'L + 10 * B + 9 * L'
expect events 1e-6 'L + 3 * B + 2 * L'
expect graph 1e-6 '3 * (L + 20 * B + 19 * N)'
expect forks 1e-6 'L + 3 * B + 2 * N'  # the branches' kernels fill half of the device each
expect devices 1e-6 '2 * L + B'
expect streams 1e-3 'l + 3 * X + B'
expect beside 1e-3 'max(L + B, l + X)'
expect pageable 1e-6 'l + P + L + B'
expect faults 1e-3 'l + F + L + B'
expect prefetched 1e-3 'l + 2 * X + L + B'
expect mapped 1e-3 'L + max(B, X)'
expect peers 1e-4 'L + B + l + X + L + B'
system='--system dgx-a100'
expect peers 1e-3 'L + B + l + Y + L + B'
expect summed 1e-3 '2 * L + B + L + C'
expect exchanged 1 'L + B'
# Each rank has rounds of small operations, then a kernel and a sum of all.
expect ranks .5 'B + C'
grep -q ',collective,.*,ncclAllReduce,2,67108864,' "$folder/commands.csv" || { echo "no sum over two processes"; exit 1; }
expect leaves 1 'L + 10 * B'
grep -q 'NCCL: the process of rank 1 has ended' "$folder/err" || { echo "who has ended is not named"; exit 1; }
[ $failed = 0 ] || { echo "$failed of $applications differ"; exit 1; }
