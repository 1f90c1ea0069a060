#!/bin/sh
# arrows.py must refuse what is wrong: each case is one change to a small tree that it accepts.
# Usage: arrows_selftest.sh SOURCE_DIR
set -eu
source=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

plant() {
  rm -rf "$tree"/*
  mkdir -p "$tree/libcore/low" "$tree/libcore/high/inner" "$tree/libcore/high/outer" "$tree/cmd/one" "$tree/tests/lint"
  printf 'low:\nhigh: low\nhigh/inner: high\nhigh/outer: high high/inner\n' >"$tree/tests/lint/arrows.txt"
  echo 'kernelcast_library(low SOURCES low.cpp)' >"$tree/libcore/low/CMakeLists.txt"
  echo 'kernelcast_library(high SOURCES high.cpp DEPENDS low)' >"$tree/libcore/high/CMakeLists.txt"
  echo '#include "low/low.hpp"' | tee "$tree/libcore/low/low.cpp" >"$tree/libcore/high/high.hpp"
  echo >"$tree/libcore/low/low.hpp"
  echo '#include "high/high.hpp"' >"$tree/libcore/high/inner/inner.hpp"
  printf '#include "high/high.hpp"\n#include "high/inner/inner.hpp"\n' >"$tree/libcore/high/outer/outer.cpp"
  echo '#include "high/high.hpp"' >"$tree/cmd/one/main.cpp"
}
refused() {  # what must be part of the answer
  if answer=$(python3 "$source/tests/lint/arrows.py" "$tree" 2>&1); then
    echo "accepted, but expected: $1"
    exit 1
  fi
  case "$answer" in *"$1"*) ;; *) printf 'expected: %s\ngot: %s\n' "$1" "$answer"; exit 1 ;; esac
}

plant
python3 "$source/tests/lint/arrows.py" "$tree" >/dev/null || { echo "the right tree is refused"; exit 1; }
echo '#include "high/outer/outer.hpp"' >"$tree/libcore/high/inner/wrong.cpp"
refused 'libcore/high/inner/wrong.cpp includes high/outer/outer.hpp'
plant
echo '  # include "high/inner/inner.hpp"' >>"$tree/libcore/high/high.hpp"
refused 'no arrow from high to high/inner'
plant
mkdir "$tree/libcore/high/new"
echo >"$tree/libcore/high/new/new.cpp"
refused 'lacks a line for high/new'
plant
echo '#include "high/high.hpp"' >"$tree/libcore/high/outer/outer.cpp"
refused 'no file of high/outer includes one of high/inner'
plant
printf 'low:\nhigh: low\nhigh/outer: high high/inner\nhigh/inner: high\n' >"$tree/tests/lint/arrows.txt"
refused 'does not stand above it'
plant
echo '#include "high/high.hpp"' >>"$tree/libcore/low/low.cpp"
refused 'no arrow from low to high'
refused 'libcore/low includes high/'
plant
echo 'kernelcast_library(high SOURCES high.cpp)' >"$tree/libcore/high/CMakeLists.txt"
refused 'libcore/high includes low/, which its CMakeLists.txt does not name'
plant
echo '#include "cmd/two/two.hpp"' >>"$tree/cmd/one/main.cpp"
refused 'a program includes something'
echo "8 wrong trees are refused"
