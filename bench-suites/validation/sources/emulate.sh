#!/bin/sh
# Emulates launches and writes their kernel rows.
#
#   emulate.sh MINIEMU FOLDER SOURCES MISSING <LAUNCHES >ROWS
#
# LAUNCHES: lines of file|kernel|case|options and arguments of miniemu, as SUITE.awk writes them; -k and --groups need not be
# among these where they are the kernel and 8. A line without a file is a launch that has no row, with the reason instead.
# FOLDER: the .cu files that those name, which include what is below SOURCES, the suite's own checkout
# MISSING: gets suite,kernel,case,reason of each launch without a row
set -eu
miniemu=$1 folder=$2 sources=$3 missing=$4
suite=$(basename "$folder")
here=$(dirname "$0")
rows=$(mktemp)
trap 'rm -f "$rows" "$rows.err"' EXIT
default() { case " $rest" in *" $1 "*) ;; *) rest="$1 $2 $rest" ;; esac; }
echo suite,kernel,case,reason >"$missing"
first=1
while IFS='|' read -r file kernel case rest; do
  if [ -z "$file" ]; then
    reason=$rest
  else
    default -k "$kernel"
    default --groups 8
    # shellcheck disable=SC2086
    if $miniemu "$folder/$file.cu" -I "$sources" --timeout 60 $rest -o "$rows" 2>"$rows.err" </dev/null; then
      awk -f "$here/../../csv.awk" -f "$here/label.awk" kernel="$kernel" label="$case" first=$first "$rows"
      first=0
      continue
    fi
    reason=$(sed -n '1s/.*error: //; 1s/"/ /g; 1p' "$rows.err")
  fi
  printf '%s,%s,"%s","%s"\n' "$suite" "$kernel" "$case" "$reason" >>"$missing"
done
