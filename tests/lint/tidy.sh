#!/bin/bash
# clang-tidy over every C++ file that is compiled, or over the files named. Usage: tidy.sh [--deep] [FILE…]
#
# A file costs about half a second: headers of the system are precompiled (tidy_headers.hpp) and not matched
# (tidy_scope.cpp). A file that was clean is not looked through again until it, a header of the project that it
# includes, its compiler options or the settings change; build-lint/tidy/clean remembers.
# --deep: the static analyzer's checks, too; nothing is remembered.
# LINT_RECENT=COMMITS LINT_SHARE=N: only what the last commits changed, and each Nth of the other files, chosen by the
# commit: for a clone that remembers nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build-lint work=build-lint/tidy here=tests/lint
export deep=
[ "${1:-}" = --deep ] && { deep=1; shift; }
mkdir -p $work/clean

# The compile commands, anew when a file comes or goes or CMake's files change.
git ls-files '*.cpp' >$work/sources.new
if ! cmp -s $work/sources $work/sources.new || [ ! -f $build/compile_commands.json ] ||
   [ -n "$(git ls-files '*CMakeLists.txt' '*.cmake' CMakePresets.json |
           xargs sh -c 'find "$@" -newer "$0"' $build/compile_commands.json)" ]; then
  cmake --preset dev -B $build -DKERNELCAST_EMU_LEVELS=v3 -DKERNELCAST_BENCH=ON -DKERNELCAST_UNITY=OFF \
    -DKERNELCAST_PRECOMPILED=OFF >/dev/null
  touch $build/compile_commands.json
  cp $work/sources.new $work/sources
fi

# Other programs or settings: nothing is known to be clean.
changed() {  # NAME TEXT: differs from the last time
  [ "$2" != "$(cat "$work/$1" 2>/dev/null)" ] && rm -rf $work/clean && mkdir $work/clean
}
# Headers of the system that are newer than what was precompiled.
clang++-19 -std=c++20 -include-pch $work/headers.pch -fsyntax-only -x c++ /dev/null 2>/dev/null || rm -f $work/tools
version=$(clang-tidy-19 --version | cksum)
tools="$version $(cat $here/tidy_* | cksum)"
if changed tools "$tools"; then
  clang++-19 -std=c++17 -fno-rtti -shared -fPIC -I"$(llvm-config-19 --includedir)" $here/tidy_scope.cpp -o $work/scope.so
  clang++-19 -std=c++20 -fpch-instantiate-templates -DTOML_ENABLE_WINDOWS_COMPAT=0 -DTOML_ENABLE_FORMATTERS=0 \
    -x c++-header $here/tidy_headers.hpp -o $work/headers.pch
  echo "$tools" >$work/tools
fi
settings=$(cat .clang-tidy tests/.clang-tidy | cksum)
if changed settings "$settings"; then echo "$settings" >$work/settings; fi

# One line per file: its name, the options that matter to the parser, and the checksums of what it includes, in all.
# Of several commands the first counts.
git ls-files '*.cpp' '*.hpp' '*.h' >$work/files
xargs cksum <$work/files >$work/sums
xargs grep -oE '^ *# *include "[^"]+"' <$work/files >$work/includes
awk -v root="$PWD/" '
  FILENAME ~ /sums$/ { sum[$3] = $1; next }
  FILENAME ~ /includes$/ {
    from = $0; sub(/:.*/, "", from)
    to = $0; sub(/^[^"]*"/, "", to); sub(/"$/, "", to)
    folder = from; sub(/[^\/]*$/, "", folder)
    includes[from] = includes[from] " " ((folder to) in sum ? folder to : "libcore/" to in sum ? "libcore/" to : "tests/" to)
    next
  }
  /^ *"command":/ { command = $0; sub(/^[^:]*: "/, "", command); gsub(/\\\\/, "\\", command); gsub(/\\"/, "\"", command) }
  /^ *"file":/ {
    file = $2; gsub(/[",]/, "", file)
    if (index(file, root) != 1) next
    file = substr(file, length(root) + 1)
    if (file !~ /\.cpp$/ || !(file in sum) || file in seen) next
    seen[file] = 1
    options = ""; n = split(command, word, " ")
    for (i = 1; i <= n; i++) {
      if (word[i] ~ /^-(D|I|m|std=)/) options = options " " word[i]
      else if (word[i] == "-isystem") options = options " -isystem " word[++i]
    }
    split("", done); sums = ""; todo = file
    while (todo != "") {
      m = split(todo, next_, " "); todo = ""
      for (i = 1; i <= m; i++) if (!(next_[i] in done)) {
        done[next_[i]] = 1; sums = sums " " sum[next_[i]]; todo = todo includes[next_[i]]
      }
    }
    print file "\t" options "\t" sums
  }' $work/sums $work/includes $build/compile_commands.json >$work/all

missing=$(git ls-files 'libcore/*.cpp' 'cmd/*.cpp' | grep -vxFf <(cut -f1 $work/all) || true)
[ -z "$missing" ] || { echo "no compile command in $build for:"; echo "$missing"; exit 1; }

checked_in() {  # FILE…
  local file
  for file; do
    case $file in
      *.hpp) git grep -lF "\"${file#*/}\"" -- '*.cpp' | head -n 1 || true ;;  # a header in one file that includes it
      *) echo "$file" ;;
    esac
  done
}

if [ $# != 0 ]; then
  checked_in "$@" | awk -F'\t' 'NR == FNR { wanted[$1]; next } $1 in wanted' - $work/all >$work/todo
elif [ "${LINT_SHARE:-}" ]; then
  since=$(git rev-list --max-count=$((LINT_RECENT + 1)) HEAD | tail -n 1)
  mapfile -t recent < <(git diff --name-only --diff-filter=d "$since" -- '*.cpp' '*.hpp')
  turn=$((16#$(git rev-parse HEAD | cut -c1-7) % LINT_SHARE))
  checked_in "${recent[@]}" |
    awk -F'\t' -v share="$LINT_SHARE" -v turn=$turn 'NR == FNR { wanted[$1]; next } $1 in wanted || FNR % share == turn' \
      - $work/all >$work/todo
elif [ $deep ]; then
  cp $work/all $work/todo
else
  find $work/clean -type f -exec cat {} + | grep -Fvxf - $work/all >$work/todo || true
fi

tidy_one() {  # a line
  local line=$1
  IFS=$'\t' read -r file options _ <<<"$line"
  pch="-include-pch $work/headers.pch"
  case "$options " in *" -m"* | *llvm*) pch= ;; esac  # it holds for one set of options
  eval "set -- $options $pch -Wshadow"  # which builds of several files at once cannot have
  checks=()
  [ $deep ] && checks=("--checks=clang-analyzer-*")
  if found=$(clang-tidy-19 -load $work/scope.so --quiet ${checks[@]+"${checks[@]}"} "$file" -- "$@" 2>&1); then
    [ $deep ] || printf '%s\n' "$line" >"$work/clean/${file//\//%}"
  else
    printf '%s\n' "$found"
    return 1
  fi
}
export -f tidy_one
export work
status=0
tr '\n' '\0' <$work/todo | xargs -0 -r -n 1 -P "${LINT_JOBS:-$(nproc)}" bash -c 'tidy_one "$1"' - >$work/findings || status=1
awk '/^[^ ].*: (warning|error): / { show = !seen[$0]++ } show' $work/findings
echo "$(wc -l <$work/todo) of $(wc -l <$work/all) files checked"
exit $status
