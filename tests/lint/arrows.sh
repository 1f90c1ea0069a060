#!/bin/sh
# Every #include between folders of libcore must be covered by DEPENDS in the including folder's CMakeLists.txt,
# directly or through the folders named there. Usage: arrows.sh SOURCE_DIR
set -eu
cd "$1/libcore"

depends() {  # the folders that folder $1 names
  tr '\n' ' ' <"$1/CMakeLists.txt" | grep -oE 'kernelcast_(library|llvm_plugin)\([^)]*\)' | sed -n 's/.*DEPENDS \([a-z_ ]*\).*/\1/p'
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
    [ -f "$head/CMakeLists.txt" ] && todo="$todo $(depends "$head")"
  done
  printf '%s\n' $seen
}

status=0
for folder in */; do
  folder=${folder%/}
  allowed=$(reach "$folder" | tr '\n' ' ')
  found=$(find "$folder" -name '*.[ch]pp' -exec grep -hoE '^#include "[a-z]+/' {} + | sed 's/.*"//; s,/,,' | sort -u)
  for used in $found; do
    [ -d "$used" ] || continue
    case " $allowed " in
      *" $used "*) ;;
      *) echo "libcore/$folder includes $used/, which its CMakeLists.txt does not name in DEPENDS"; status=1 ;;
    esac
  done
done

# A program may use the library and nothing of another program.
if grep -nE '#include "(\.\./|cmd/)' ../cmd/*/*.cpp; then
  echo "a program includes something from outside its folder and the library"
  status=1
fi
[ $status = 0 ] && echo "includes follow the arrows of $(ls -d */ | wc -l) folders"
exit $status
