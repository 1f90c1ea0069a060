#!/bin/bash
# Checks of the tree that need no build, each with its seconds and, where it fails, what to do. `make lint` and the
# pre-commit hooks call it. Usage: lint.sh [CHECK [FILE…]]    no CHECK: all; FILE: only these, where a check goes by files
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
checks="format arrows words spelling man presets tidy"
mkdir -p build-lint

need() {  # programs
  for program; do
    command -v "$program" >/dev/null || { echo "$program is not installed: make deps-lint"; return 1; }
  done
}

format_advice="make format"
format() {
  need clang-format-19 || return
  if [ $# = 0 ]; then git ls-files -z '*.cpp' '*.hpp'; else printf '%s\0' "$@"; fi |
    xargs -0 -r clang-format-19 --dry-run --Werror
}

arrows_advice="include from below, or declare the arrow: DEPENDS in the folder's CMakeLists.txt, and tests/lint/arrows.txt"
arrows() {
  python3 tests/lint/arrows.py . && sh tests/lint/arrows_selftest.sh . && python3 tests/lint/structure.py . --check
}

words_advice="say it without the path of a machine, without an unfinished part, in the plain words that the check names"
words() {
  sh tests/lint/words.sh .
}

spelling_advice="mend the word; one that is right or meant belongs into tests/lint/spelling.txt"
spelling() {
  need codespell || return
  if [ $# = 0 ]; then git ls-files -z; else printf '%s\0' "$@"; fi |
    xargs -0 -r codespell --ignore-words tests/lint/spelling.txt --skip '*.bin,*.ptx,*.sass,*/fuzz/corpus/*'
}

man_advice="mend the page, or man/tidy.awk"
man() {
  need scdoc mandoc || return
  local folder pages=() page status
  folder=$(mktemp -d)
  for page in man/*.scd; do
    page=${page#man/} page=${page%.scd}
    scdoc <"man/$page.scd" | awk -f man/tidy.awk >"$folder/$page" || { echo "man/$page.scd"; return 1; }
    pages+=("$folder/$page")
  done
  sh man/lint.sh "$(command -v mandoc)" "${pages[@]}"
  status=$?
  rm -rf "$folder"
  return $status
}

presets_advice="cmake --preset NAME -B build-lint/preset"
presets() {  # what CMake has seen already is not configured again
  local seen preset folder status=0
  need cmake ninja clang++-19 g++ || return
  seen=$({ git ls-files; git ls-files -z '*CMakeLists.txt' '*.cmake' '*.in' CMakePresets.json | xargs -0 cat; } | cksum)
  [ "$seen" = "$(cat build-lint/presets 2>/dev/null)" ] && { echo "CMake's files are those of the last time"; return; }
  folder=$(mktemp -d)
  for preset in $(cmake --list-presets | sed -n 's/^ *"\([^"]*\)".*/\1/p'); do
    case $preset in *arm64) [ -e /usr/lib/aarch64-linux-gnu/libcsv.so ] || continue ;; esac  # make deps-arm64
    cmake --preset "$preset" -B "$folder/$preset" >"$folder/out" 2>"$folder/err" && ! [ -s "$folder/err" ] && continue
    echo "preset $preset:"
    cat "$folder/err"
    status=1
  done
  rm -rf "$folder"
  [ $status = 0 ] && echo "$seen" >build-lint/presets
  return $status
}

tidy_advice="mend what clang-tidy found; a check that is no use is disabled in .clang-tidy, with the reason"
tidy() {
  need clang-tidy-19 clang++-19 llvm-config-19 cmake ninja || return
  bash tests/lint/tidy.sh "$@"
}

if [ $# != 0 ]; then
  check=$1
  shift
  case " $checks " in *" $check "*) ;; *) echo "lint.sh: unknown check '$check'; there are: $checks" >&2; exit 2 ;; esac
  "$check" "$@" && exit
  advice=${check}_advice
  echo "$check: ${!advice}" >&2
  exit 1
fi

failed=
for check in $checks; do
  start=${EPOCHREALTIME/[.,]/}
  "$check" >build-lint/output 2>&1 && status=ok || status=failed
  printf '%-10s %-7s %6s s\n' "$check" "$status" "$(((${EPOCHREALTIME/[.,]/} - start) / 100000))" |
    sed -E 's/([0-9])( s)$/.\1\2/; s/  \.([0-9])/ 0.\1/'
  [ $status = ok ] && continue
  cat build-lint/output
  advice=${check}_advice
  echo "$check: ${!advice}"
  failed="$failed $check"
done
[ -z "$failed" ] || { echo "lint failed:$failed" >&2; exit 1; }
