#!/bin/sh
# Every #include between folders of libcore must be covered by what the including folder's CMakeLists.txt names: DEPENDS,
# kernelcast::NAME, or a source file of the other folder, directly or through the folders named there. A folder within a
# folder that has a CMakeLists.txt of its own counts for itself. Sub-folders follow the arrows in arrows.txt.
# Usage: arrows.sh SOURCE_DIR
set -eu
cd "$1/libcore"

folder_of() {  # of a library: emu, emu_check -> emu/check
  inner=$(echo "$1" | sed 's,_,/,')
  if [ -d "$1" ]; then echo "$1"; elif [ -d "$inner" ]; then echo "$inner"; else echo "${inner%%/*}"; fi
}

depends() {  # the folders that folder $1 names
  text=$(sed 's/#.*//' "$1/CMakeLists.txt" | tr '\n' ' ')
  {
    echo "$text" | grep -oE 'kernelcast_(library|llvm_plugin)\([^)]*\)' | sed -n 's/.*DEPENDS \([a-z_ ]*\).*/\1/p'
    echo "$text" | grep -oE 'kernelcast::[a-z_]+' | sed 's/.*:://'
    echo "$text" | grep -oE '(\.\./)+[a-z]+/' | sed 's,^[./]*,,; s,/,,'
  } | tr ' ' '\n' | sed '/^$/d' | sort -u | while read -r name; do folder_of "$name"; done
}

reach() {  # $1 and all it reaches, one per line
  todo=$1 seen=
  while :; do
    set -- $todo
    [ $# = 0 ] && break
    head=$1
    shift
    todo=$*
    case " $seen " in *" $head "*) continue ;; esac
    seen="$seen $head"
    [ -f "$head/CMakeLists.txt" ] && todo="$todo $(depends "$head" | tr '\n' ' ')"
  done
  printf '%s\n' $seen
}

sources_of() {  # of folder $1 without those of folders within that count for themselves
  set -- "$1" $(find "$1" -mindepth 2 -name CMakeLists.txt -exec dirname {} \;)
  folder=$1
  shift
  for inner; do set -- "$@" -path "$inner" -prune -o; shift; done
  find "$folder" "$@" -name '*.[ch]pp' -print
}

status=0 count=0
for folder in $(find . -mindepth 2 -name CMakeLists.txt | sed 's,^\./,,; s,/CMakeLists.txt$,,' | sort); do
  count=$((count + 1))
  allowed=$(reach "$folder" | sed 's,/.*,,' | sort -u | tr '\n' ' ')
  found=$(sources_of "$folder" | xargs -r grep -hoE '^#include "[a-z]+/' | sed 's/.*"//; s,/,,' | sort -u)
  for used in $found; do
    [ -d "$used" ] || continue
    case " $allowed " in
      *" $used "*) ;;
      *) echo "libcore/$folder includes $used/, which its CMakeLists.txt does not name"; status=1 ;;
    esac
  done
done

# A program may use the library and nothing of another program.
if grep -nE '#include "(\.\./|cmd/)' ../cmd/*/*.cpp; then
  echo "a program includes something from outside its folder and the library"
  status=1
fi

list=$(mktemp -d)
trap 'rm -rf "$list"' EXIT
find . -name '*.[ch]pp' | sed 's,^\./,,' >"$list/files"
xargs grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' <"$list/files" >"$list/includes" || true
awk -f ../tests/lint/arrows_within.awk ../tests/lint/arrows.txt "$list/files" "$list/includes" || status=1

[ $status = 0 ] && echo "includes follow the arrows of $count folders"
exit $status
