#!/bin/sh
# The binary interface of libkernelcast stays what programs were linked with.
# abi.sh compare|update CC NM ABIDW ABIDIFF LIBRARY SONAME API_DIR MAJOR.MINOR
#
# Every function of the header is compiled as a stub, with debug information, under the library's version script. So the
# library needs no debug information: the compiler has checked its definitions against the header, and its symbols must
# be those of the stubs. Types and symbols of the stubs are compared with API_DIR/libkernelcast.abi, the baseline.
# What programs rely on must be there unchanged. Additions are reported; functions among them belong in the node of
# exports.map that is named after the version.
set -eu
mode=$1 cc=$2 nm=$3 abidw=$4 abidiff=$5 library=$6 soname=$7 api=$8 version=$9
refresh='cmake --build build --target abi-update'
for program in "$abidw" "$abidiff"; do
  command -v "$program" >/dev/null || { echo "kernelcast-skipped: no abidw or abidiff (abigail-tools)"; exit 0; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export LC_ALL=C

cp "$api/libkernelcast.h" "$folder"
{
  echo '#include "libkernelcast.h"'
  awk '/^KERNELCAST_API/ { inside = 1 }
       inside { text = text " " $0 }
       inside && /;/ { sub(/;.*/, " { __builtin_trap(); }", text); print text; text = ""; inside = 0 }' \
    "$api/libkernelcast.h"
} >"$folder/stubs.c"
cd "$folder"
"$cc" -std=c11 -g -O0 -fPIC -shared -Wno-unused-parameter -DKERNELCAST_BUILDING_LIBRARY stubs.c -o stubs.so \
  -Wl,-soname,"$soname" -Wl,--version-script="$api/exports.map"

symbols() { "$nm" -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | sort; }
symbols stubs.so >declared
symbols "$library" >shown
diff declared shown || { echo "symbols of the header (<) and of the library (>) differ"; exit 1; }
# Nothing of the machine, of the compiler or of lines.
"$abidw" --headers-dir . --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --no-architecture \
  --type-id-style hash stubs.so |
  sed -E "s, (path|comp-dir-path|language|filepath)='[^']*',,g" >new.abi

if [ "$mode" = update ]; then
  cp new.abi "$api/libkernelcast.abi"
  echo "wrote libcore/api/libkernelcast.abi: $(wc -l <declared) functions"
  exit
fi
old=$api/libkernelcast.abi
# Callers say how long their kernelcast_projection is: members beyond its old end are additions, and left out. (A
# suppression of abidiff for such members hides changes of the others, too.)
bits=$(sed -n "s/.*<class-decl name='kernelcast_projection' size-in-bits='\([0-9]*\)'.*/\1/p" "$old")
awk -v bits="$bits" -v quote="'" '
  /<class-decl name=.kernelcast_projection. / && match($0, /size-in-bits=.[0-9]+/) {
    inside = substr($0, RSTART + 14, RLENGTH - 14) + 0 > bits
    if (inside) sub(/size-in-bits=.[0-9]+/, "size-in-bits=" quote bits)
  }
  inside && match($0, /layout-offset-in-bits=.[0-9]+/) { beyond = substr($0, RSTART + 23, RLENGTH - 23) + 0 >= bits }
  !beyond
  beyond && match($0, /name=.[a-z_0-9]+/) {
    print "added: " substr($0, RSTART + 6, RLENGTH - 6) " in kernelcast_projection; refresh the baseline" >"members"
  }
  /<\/data-member>/ { beyond = 0 }
  /<\/class-decl>/ { inside = 0 }' new.abi >without.abi
if ! "$abidiff" --no-added-syms "$old" without.abi >changes; then
  cat changes
  echo "the interface changed for programs that are linked with it: put it back, or give the library a new SOVERSION"
  echo "and refresh the baseline ($refresh); see CONTRIBUTING.md, A change to the C interface"
  exit 1
fi
sed -n "s/.*<elf-symbol name='\([^']*\)'.*/\1/p" "$old" | sort -u >known
[ ! -f members ] || cat members
added=$(sed 's/@.*//' declared | sort -u | comm -13 known -)
for name in $added; do
  node=$(sed -n "s/^$name@*//p" declared)
  echo "added: $name in $node; refresh the baseline: $refresh"
  [ "$node" = "KERNELCAST_$version" ] || {
    echo "what this version adds belongs in the node KERNELCAST_$version of libcore/api/exports.map"
    exit 1
  }
done
echo "$(wc -l <known) functions are as programs know them"
