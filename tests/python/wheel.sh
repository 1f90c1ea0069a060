#!/bin/sh
# Usage: wheel.sh CMAKE BUILD_DIR PYTHON ENVIRONMENT. A wheel made of what is installed serves an environment of its own,
# where neither programs nor library nor database are found by other means.
set -eu
cmake=$1 build=$2 python=$3 environment=$4
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset KERNELCAST_LIBRARY KERNELCAST_DEVDB PYTHONPATH
export XDG_CACHE_HOME="$folder/cache"
reached=$(sh "$here/in_environment.sh" "$python" "$environment" -c '')
case $reached in *kernelcast-skipped*) echo "$reached"; exit 0 ;; esac
"$cmake" --install "$build" --prefix "$folder/usr" >"$folder/log" || { cat "$folder/log"; exit 1; }
sh "$here/../../libcore/api/python/wheel.sh" "$folder/usr" "$folder" "$python" >"$folder/log" 2>&1 ||
  { cat "$folder/log"; exit 1; }
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-deps --no-index "$folder"/kernelcast-*.whl
cd "$folder"
cp "$here/saxpy.ptx" .
"$folder/venv/bin/python" - <<'END'
import kernelcast
from pathlib import Path

assert kernelcast.library.library()._name.startswith(str(Path(kernelcast.__file__).parent)), "another library"
best = kernelcast.project(Path("saxpy.ptx"), "saxpy", 4096, 256, [kernelcast.buffer(1 << 22)] * 2 + [2.0, 1 << 20]).best
print(kernelcast.version(), best)
END

# The programs, as a command and by their names.
bin=$folder/venv/bin
sample=$here/../../cmake/package/sample
env -i HOME="$folder" PATH=/usr/bin:/bin "$bin/python" -m kernelcast choose --quiet "$sample/saxpy.toml" >choice
grep -q '^fastest: ' choice || { cat choice; exit 1; }
env -i HOME="$folder" PATH="$bin:/usr/bin:/bin" sh -c 'miniemu "$1" | perfcast --device a100,h100 | rank' - "$sample/saxpy.toml" >ranking
grep -q ',saxpy,saxpy,1,h100,' ranking || { cat ranking; exit 1; }
status=0
env -i HOME="$folder" PATH="$bin:/usr/bin:/bin" rank --nonsense 2>message || status=$?
[ $status = 2 ] && grep -q '^rank: error' message || { echo "status $status"; cat message; exit 1; }
