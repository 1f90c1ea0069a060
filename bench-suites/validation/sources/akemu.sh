#!/bin/sh
# Emulates launches with akemu on devices, and writes the rows, without what launches cost. Of each launch three groups
# spread over the grid are traced.
#
#   akemu.sh BIN DEVDB DEVICES FOLDER SOURCES <LAUNCHES >ROWS
#
# LAUNCHES, FOLDER, SOURCES: as for emulate.sh. A launch that fails has no rows, and a line on standard error.
set -eu
bin=$1 devdb=$2 devices=$3 folder=$4 sources=$5
here=$(dirname "$0")
rows=$(mktemp)
trap 'rm -f "$rows" "$rows.trace"' EXIT
first=1
while IFS='|' read -r file kernel case rest; do
  # shellcheck disable=SC2086
  if "$bin/miniemu" "$folder/$file.cu" -I "$sources" -k "$kernel" --groups 3 --emit trace --timeout 60 $rest \
      -o "$rows.trace" </dev/null && "$bin/akemu" --quiet --launch-cost 0 --devdb "$devdb" --device "$devices" "$rows.trace" -o "$rows"
  then
    awk -f "$here/../../csv.awk" -f "$here/label.awk" kernel="$kernel" label="$case" first=$first "$rows"
    first=0
  else
    echo "$kernel, $case: no rows" >&2
  fi
done
