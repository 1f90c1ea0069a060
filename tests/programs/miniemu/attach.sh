#!/bin/sh
# Usage: attach.sh MINIEMU APPLICATION [ARGUMENT...]. The application runs alone and with the layer: its output and exit
# status must be the same, and every row the same as that of its launch file run again.
set -eu
miniemu=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache" POCL_CACHE_DIR="$folder/pocl"
run() { out=$1; shift; status=0; "$@" >"$folder/$out.out" 2>"$folder/$out.err" || status=$?; echo $status >"$folder/$out.status"; }
run plain "$@"
if [ "$(cat "$folder/plain.status")" = 77 ]; then echo "kernelcast-skipped: no OpenCL device"; exit 0; fi
run attached "$miniemu" --attach --no-registers --keep "$folder/kept" -o "$folder/rows.csv" -- "$@"
for what in out status; do
  cmp "$folder/plain.$what" "$folder/attached.$what" || { cat "$folder/attached.err"; exit 1; }
done
cat "$folder/attached.err"
sed 's/^/row: /' "$folder/rows.csv" | cut -d, -f1-12

# The columns of the first row of a CSV that are asked for by name, one per line.
cell() { awk -F, -v want="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == want) at = i } NR == '"$3"' { print $at }' "$1"; }
row=1 more=0
for launch in $(ls "$folder"/kept/launch-*.toml 2>/dev/null | sort -t- -k3 -n); do
  row=$((row + 1))
  "$miniemu" --no-registers "$launch" >"$folder/again.csv"
  times=$(cell "$folder/rows.csv" launches $row)
  for column in kernel grid_x grid_y block_x block_y shared_bytes; do
    [ "$(cell "$folder/rows.csv" $column $row)" = "$(cell "$folder/again.csv" $column 2)" ] ||
      { echo "$launch: $column differs"; exit 1; }
  done
  for column in inst_total issues_fp32_w32 global_load_bytes global_store_bytes global_load_tx_w32_s32 barriers; do
    one=$(cell "$folder/again.csv" $column 2) all=$(cell "$folder/rows.csv" $column $row)
    awk -v one="$one" -v n="$times" -v all="$all" 'BEGIN { exit one * n == all ? 0 : 1 }' ||
      { echo "$launch: $column is $all in the rows, but $times times $one when run again"; exit 1; }
  done
  # Run again, only what the launch is passed is allocated.
  passed=$(cell "$folder/again.csv" allocated_bytes 2) allocated=$(cell "$folder/rows.csv" allocated_bytes $row)
  [ "$allocated" -ge "$passed" ] || { echo "$launch: $allocated bytes are allocated, $passed passed"; exit 1; }
  [ "$allocated" = "$passed" ] || more=$((more + 1))
done
# The code of a kernel is fetched by its first configuration.
awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "code_fetched") c = i; next } $c != !seen[$1]++ { exit 1 }' "$folder/rows.csv" ||
  { echo "code_fetched is not 1 in the first row of each kernel alone"; exit 1; }
case $1 in
*/app_several_kernels) [ $more -gt 0 ] || { echo "no launch has more memory allocated than it is passed"; exit 1; } ;;
esac
echo "$((row - 1)) rows equal to their launch files"
[ "$row" -gt 1 ] || { echo "no row at all"; exit 1; }
