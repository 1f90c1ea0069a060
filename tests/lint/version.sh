#!/bin/sh
# CMakeLists.txt states the version; what states it beside must agree. Usage: version.sh SOURCE_DIR [PROGRAM PC_FILE]
set -eu
status=0
version=$(sed -n 's/^project(kernelcast VERSION \([0-9]*\.[0-9]*\.[0-9]*\) .*/\1/p' "$1/CMakeLists.txt")
[ -n "$version" ] || { echo 'CMakeLists.txt: no line project(kernelcast VERSION MAJOR.MINOR.PATCH ...)'; exit 1; }
agree() {  # where, what it says
  [ "$2" = "$version" ] && return
  echo "$1 says '$2', CMakeLists.txt says '$version'"
  status=1
}
agree CITATION.cff "$(sed -n 's/^version: *//p' "$1/CITATION.cff")"
agree libcore/api/python/pyproject.toml "$(sed -n 's/^version = "\(.*\)"/\1/p' "$1/libcore/api/python/pyproject.toml")"
# The newest section that has a date.
agree CHANGELOG.md "$(sed -nE 's/^## \[([0-9.]+)\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$/\1/p' "$1/CHANGELOG.md" | head -n 1)"
if [ $# -gt 1 ]; then
  agree "$(basename "$2") --version" "$("$2" --version | sed 's/.*(kernelcast) \([0-9.]*\).*/\1/')"
  agree "$(basename "$3")" "$(sed -n 's/^Version: //p' "$3")"
fi
[ $status = 0 ] && echo "version $version"
exit $status
