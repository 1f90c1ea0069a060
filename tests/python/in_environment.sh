#!/bin/sh
# Usage: in_environment.sh PYTHON FOLDER SCRIPT.py [ARGUMENT…]. Runs a script with the packages of requirements.txt, from
# a virtual environment in FOLDER. It is made by the first test and again when that list changes.
set -eu
python=$1 folder=$2
shift 2
list=$(dirname "$0")/requirements.txt
mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9  # tests run at the same time
if ! cmp -s "$list" "$folder/installed.txt"; then
  "$python" -m venv --clear "$folder/venv" >"$folder/log" 2>&1 ||
    { echo "kernelcast-skipped: $python makes no virtual environments (python3-venv)"; exit 0; }
  "$folder/venv/bin/pip" install --quiet --retries 1 --timeout 15 -r "$list" >>"$folder/log" 2>&1 ||
    { tail -n 2 "$folder/log"; echo "kernelcast-skipped: packages of PyPI cannot be installed"; exit 0; }
  cp "$list" "$folder/installed.txt"
fi
flock -u 9
exec "$folder/venv/bin/python" "$@"
