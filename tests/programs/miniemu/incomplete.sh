#!/bin/sh
# Usage: incomplete.sh MINIEMU LIBRARIES DEVDB PART...: an installation that lacks one of the parts refuses to attach, by
# its name, and does not start the application; with all of them it starts it.
set -eu
miniemu=$1 libraries=$2
export KERNELCAST_DEVDB="$3"
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/bin" "$folder/lib/kernelcast-cudart"
cp "$miniemu" "$folder/bin/miniemu"
attach() {
  status=0
  rm -f "$folder/started"
  "$folder/bin/miniemu" --attach --no-registers -o "$folder/rows.csv" -- touch "$folder/started" 2>"$folder/err" || status=$?
}
fail() { echo "$1: status $status"; cat "$folder/err"; exit 1; }
for part in "$@"; do ln -s "$libraries/$part" "$folder/lib/$part"; done
attach
[ $status = 0 ] && [ -e "$folder/started" ] || fail "nothing is missing"
grep -q "no launch was seen" "$folder/err" || fail "an application without launches, and no message"
for part in "$@"; do
  rm "$folder/lib/$part"
  attach
  [ $status = 5 ] && grep -q "error: .*$part is not installed" "$folder/err" || fail "without $part"
  [ ! -e "$folder/started" ] || fail "without $part the application was started"
  ln -s "$libraries/$part" "$folder/lib/$part"
done
echo "$# parts"
