#!/bin/sh
# Emulates launches and writes their kernel rows.
#
#   emulate.sh MINIEMU FOLDER SOURCES MISSING <LAUNCHES >ROWS
#
# LAUNCHES: lines of file|kernel|case|options and arguments of miniemu, as SUITE.awk writes them; -k and --groups need not be
# among these where they are the kernel and 8. A line without a file is a launch that has no row, with the reason instead.
# FOLDER: the .cu and .cl files that those name, which include what is below SOURCES, the suite's own checkout. DEVICE:NAME is an
# application: nvcc compiles it, and it runs attached as if on that device, with these arguments.
# MISSING: gets suite,kernel,case,reason of each launch without a row
set -eu
miniemu=$1 folder=$2 sources=$3 missing=$4
suite=$(basename "$folder")
here=$(dirname "$0")
rows=$(mktemp)
trap 'rm -f "$rows" "$rows.err" "$rows.run"' EXIT
# Launches what the line names.
emulate() {
  # shellcheck disable=SC2086
  case $file in
    *:*)
      nvcc -std=c++17 -O2 -DNDEBUG -w -gencode arch=compute_90a,code=compute_90a -cudart shared -I "$sources" \
        "$folder/${file#*:}.cu" -o "$rows.run" -lcuda &&
        $miniemu --attach --quiet --as "${file%%:*}" --budget 4s --timeout 600 -o "$rows" -- "$rows.run" $rest
      ;;
    *)
      default -k "$kernel"
      default --groups 8
      case $file in *.cl) ;; *) file=$file.cu ;; esac
      $miniemu "$folder/$file" -I "$sources" --timeout 60 $rest -o "$rows"
      ;;
  esac 2>"$rows.err" </dev/null
}
default() { case " $rest" in *" $1 "*) ;; *) rest="$1 $2 $rest" ;; esac; }
echo suite,kernel,case,reason >"$missing"
first=1
while IFS='|' read -r file kernel case rest; do
  if [ -z "$file" ]; then
    reason=$rest
  else
    if emulate; then
      awk -f "$here/../../csv.awk" -f "$here/label.awk" kernel="$kernel" label="$case" first=$first "$rows"
      first=0
      continue
    fi
    reason=$(sed -n '1s/.*error: //; 1s/"/ /g; 1p' "$rows.err")
  fi
  printf '%s,%s,"%s","%s"\n' "$suite" "$kernel" "$case" "$reason" >>"$missing"
done
