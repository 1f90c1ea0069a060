# For the tests of flux-count --attach, which begin with: . "$(dirname "$0")/attached.sh"
# Usage of each: NAME.sh BIN SOURCE RUNTIME_FOLDER. An application's CUDA runtime executes on the emulator: the stand-in
# (standin/), or miniemu's.
set -eu
bin=$1 apps=$2/tests/programs/flux-count/apps standin=$3
command -v nvcc >/dev/null || { echo "kernelcast-skipped: no nvcc"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export LD_LIBRARY_PATH="$standin${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

fail() { echo "$@"; exit 1; }

build() {  # name, sources and options of nvcc
  name=$1
  shift
  nvcc -std=c++17 -cudart shared -o "$folder/$name" "$@" 2>"$folder/nvcc.log" || { cat "$folder/nvcc.log"; exit 1; }
}

# Runs the application alone and attached: the same words and status. Rows go to $folder/NAME.csv, words of flux-count to
# $folder/NAME.err.
attach() {  # name, exit status
  alone=0 attached=0
  "$folder/$1" >"$folder/alone" || alone=$?
  "$bin/flux-count" --attach -o "$folder/$1.csv" -- "$folder/$1" >"$folder/words" 2>"$folder/$1.err" || attached=$?
  [ "$alone" = "$2" ] || fail "$1 alone ends with $alone"
  [ "$attached" = "$2" ] || { cat "$folder/$1.err"; fail "$1 attached ends with $attached"; }
  cmp "$folder/alone" "$folder/words" || fail "attached, $1 says something else"
}

launches() { awk -F, 'NR > 1 { print $3 }' "$folder/$1.csv" | sort -u | wc -l; }  # of a name

# What the emulator counts for a launch, as opcode,lanes.
emulated() { "$bin/flux-count" "$@" --no-cache --quiet | awk -F, 'NR > 1 { print $4 "," $5 }'; }
