#!/bin/sh
# Usage: installed.sh CMAKE BUILD_DIR EXAMPLE.c. What is installed into a folder of its own serves a C compiler by
# pkg-config, and the library finds the device database beside itself, from anywhere.
set -eu
command -v pkg-config >/dev/null || { echo "kernelcast-skipped: no pkg-config"; exit 0; }
command -v cc >/dev/null || { echo "kernelcast-skipped: no cc"; exit 0; }
[ -x /usr/lib/llvm-19/bin/clang ] || command -v clang-19 >/dev/null || { echo "kernelcast-skipped: no clang-19"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
"$1" --install "$2" --prefix "$folder/usr" --component library >"$folder/log" || { cat "$folder/log"; exit 1; }
"$1" --install "$2" --prefix "$folder/usr" --component development >>"$folder/log" || { cat "$folder/log"; exit 1; }
"$1" --install "$2" --prefix "$folder/usr" --component database >>"$folder/log" || { cat "$folder/log"; exit 1; }
export PKG_CONFIG_PATH=$(dirname "$(find "$folder/usr" -name libkernelcast.pc)")
cp "$3" "$folder/project.c"
cd "$folder"
# shellcheck disable=SC2046
cc -std=c11 -Wall -Wextra -Werror project.c $(pkg-config --cflags --libs libkernelcast) -lm -o project
libraries=$(pkg-config --variable=libdir libkernelcast)
mkdir elsewhere
cd elsewhere
unset KERNELCAST_DEVDB
LD_LIBRARY_PATH=$libraries ../project >out 2>words
cat out words
[ "$(wc -l <out)" = 5 ] || { echo "expected five devices"; exit 1; }
# The database is installed whole.
installed=$(find "$folder/usr" -type d -path '*/kernelcast/devdb')
(cd "$(dirname "$0")/../../devdb" && find . -name '*.csv' -o -name '*.toml') | while read -r table; do
  [ -e "$installed/$table" ] || { echo "devdb/$table is not installed"; exit 1; }
done
