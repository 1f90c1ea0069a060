# Times of the kernels of bench-suites, as a program leaves the caches, warm, cold, and back to back; and of launches that
# others' programs made: PROGRAMS is a folder with folders of launch files as `miniemu --attach --keep` writes them
# (default: what tests/gpu/pack.sh carries). A launch file is a process, so that a fault costs no other file its device.
# seconds: 200
# lands: bench-suites/validation/measured/DEVICE.csv
set -eu
suites=$SOURCE/bench-suites table=$RESULTS/kernels.csv
ptx=$BIN/../ptx
rm -f "$table"
failed=0 missing=
keep() { if [ -s "$table" ]; then tail -n +2 one.csv; else cat one.csv; fi >>"$table"; }
trap 'keep; exit 124' TERM
measure() {  # OPTIONS... DEVDB LAUNCH_FILE...
  status=0
  # shellcheck disable=SC2046  # an option and its value
  "$BIN/gpu_kernel_times" ${DEVICE:+--device "$DEVICE"} $([ ! -d "$ptx" ] || echo --ptx "$ptx") "$@" >one.csv || status=$?
  case $status in
    77) missing=$(tail -n 1 one.csv); return ;;
    0) ;;
    *) failed=$((failed + 1)) ;;
  esac
  keep
}
for file in "$suites"/polybench/*.toml "$suites"/panwar/*.toml "$suites"/braun/*.toml "$suites"/perdome/*.toml; do
  measure "$SOURCE/devdb" "$file"
done
for file in "$suites"/tunable/*.toml; do
  measure "$SOURCE/devdb" "$file" "$file" --set tile2 "$file" --set tile3
done
cases() { for size in s1 s2 s3 s4; do sh "$suites/cases.sh" list "$suites/shoc" $size; done; }
for stem in $(cases | sed 's/_[sd]p_s.$//; s/_s.$//' | sort -u); do
  launches=$(cases | grep -E "^$stem(_[sd]p)?_s.\$" | while read -r case; do sh "$suites/cases.sh" launch "$suites/shoc" "$case"; done)
  # A level of the search that is done again finds nothing.
  caches=
  [ "$stem" != bfs ] || caches="--caches program,cold"
  # shellcheck disable=SC2086  # several words
  measure $caches "$SOURCE/devdb" $launches
done
for folder in "${PROGRAMS:-$BIN/../programs}"/*/; do
  [ ! -d "$folder" ] || measure "$SOURCE/devdb" "$folder"/*.toml
done
[ -z "$missing" ] || { echo "$missing"; exit 77; }
echo "$(($(wc -l <"$table") - 1)) times; $failed files with launches that could not be timed"
[ "$(wc -l <"$table")" -gt 1 ] && [ $failed = 0 ]
