# Programs on the emulator, for the scripts beside it, which have set `bin`.
# shellcheck shell=sh disable=SC2034,SC2154

# DEVICE, FOLDER, COMMAND...: output into FOLDER/out and FOLDER/err, records into FOLDER.csv; sets status and seconds.
run() {
  device=$1 folder=$2
  shift 2
  status=0 begin=$(date +%s.%N)
  timeout "${LIMIT:-600}" "$bin/miniemu" --attach --as "$device" --no-registers --quiet -o "$folder.csv" -- \
    "$@" </dev/null >"$folder/out" 2>"$folder/err" || status=$?
  seconds=$(echo "$(date +%s.%N) - $begin" | bc)
}

# FOLDER, PATTERN, SED: why the run was not ok: the first line that has the pattern, without what SED takes away.
failure() {
  if [ "$status" = 124 ]; then
    said="not within ${LIMIT:-600} s"
  else
    said=$(cat "$1/err" "$1/out" | grep -m1 "$2" | sed "$3; s/; thread.*//" | tr ',"' ';' | cut -c1-120)
  fi
  echo "${said:-status $status}"
}
