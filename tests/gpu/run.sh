#!/bin/sh
# What needs a CUDA device, in parts: measurements in the order of their numbers, each with a table, then checks. Not part
# of `make check`. `run.sh --help` says how it is called.
#
# A part is a file parts/N-NAME.sh or checks/NAME.sh. Its head says how long it is expected to take on an H100,
# `# seconds: 60`, and where its table, $RESULTS/NAME.csv, belongs, `# lands: devdb/curves/DEVICE.csv`. It runs with BIN,
# LIB, SOURCE and RESULTS in the environment and an empty folder as its working directory, and writes rows as they come.
# Status 0 ok, 77 skipped (the last line says why), anything else failed. OPENCL is empty where clang-19, which compiles
# OpenCL C, is missing: CUDA then holds the option that chooses a launch file's CUDA version.
# The environment: DEVICE, the device's id in the database where its name does not say it; PARTS, another folder with
# parts/ and checks/, which need no programs, for tests of this script.
set -eu
usage() {
  cat <<END
usage: tests/gpu/run.sh [--list] [--budget SECONDS] [--build FOLDER] [--out FOLDER] [PART...]
  --list             print the parts in their order, with the seconds that each takes, and end
  --budget SECONDS   leave out parts that no longer fit, and end what takes longer (default: 720)
  --build FOLDER     the programs: a build, or what tests/gpu/pack.sh made of one (default: build; made where it is missing)
  --out FOLDER       where tables and logs go (default: gpu-results beside the tree)
  PART               only these parts; "checks" are all checks
Exit status: 0 all ran or were skipped, 1 a part failed, 2 an error on the command line.
END
}
refuse() {
  echo "run.sh: $1" >&2
  echo "hint: $2" >&2
  exit 2
}
source=$(cd "$(dirname "$0")/../.." && pwd)
parts=${PARTS:-$source/tests/gpu}
budget=720 build=$source/build out=$source/../gpu-results list=
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --list) list=yes ;;
    --budget | --build | --out)
      [ $# -gt 1 ] || refuse "$1 has no value" "run.sh --help lists the options"
      case $1 in
        --budget) budget=$2 ;;
        --build) build=$2 ;;
        --out) out=$2 ;;
      esac
      shift
      ;;
    --) shift; break ;;
    -*) refuse "there is no option '$1'" "run.sh --help lists the options" ;;
    *) break ;;
  esac
  shift
done
case $budget in
  '' | *[!0-9]*) refuse "--budget: '$budget' is not a number of seconds" "for example --budget 720" ;;
esac

name_of() { basename "$1" .sh | sed 's/^[0-9]*-//'; }
stated() { sed -n "s/^# $2: //p" "$parts/$1" | head -n 1; }
all=$(cd "$parts" && ls parts/*.sh && ls checks/*.sh)
for wanted; do
  found=
  for file in $all; do
    case $file in checks/*) [ "$wanted" != checks ] || found=yes ;; esac
    [ "$wanted" != "$(name_of "$file")" ] || found=yes
  done
  [ -n "$found" ] || refuse "there is no part '$wanted'" "run.sh --list lists them"
done
chosen=
for file in $all; do
  [ $# = 0 ] && chosen="$chosen $file"
  for wanted; do
    case $wanted:$file in
      checks:checks/*) chosen="$chosen $file" ;;
      *) [ "$wanted" != "$(name_of "$file")" ] || chosen="$chosen $file" ;;
    esac
  done
done
if [ -n "$list" ]; then
  echo "part,seconds,lands"
  for file in $chosen; do echo "$(name_of "$file"),$(stated "$file" seconds),$(stated "$file" lands)"; done
  exit 0
fi

begin=$(date +%s)
mkdir -p "$out" || refuse "--out: '$out' cannot be made" "name a folder that may be written"
RESULTS=$(cd "$out" && pwd)
if [ ! -x "$build/bin/flux-count" ] && [ -z "${PARTS:-}" ]; then
  echo "building: where there are no packages, carry a folder of tests/gpu/pack.sh and name it with --build" >&2
  make -C "$source" build || exit 1
fi
[ ! -d "$build" ] || build=$(cd "$build" && pwd)
export RESULTS BIN="$build/bin" LIB="$build/lib" SOURCE="$source" PATH="$build/bin:$PATH" KERNELCAST_DEVDB="$source/devdb"
export OPENCL=yes CUDA=
command -v clang-19 >/dev/null || OPENCL='' CUDA='--set cuda'
if [ -d "$build/lib/needed" ]; then export LD_LIBRARY_PATH="$build/lib/needed${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"; fi

child=
trap '[ -z "$child" ] || kill "$child" 2>/dev/null; exit 130' INT TERM
failed=0
for file in $chosen; do
  name=$(name_of "$file") seconds=$(stated "$file" seconds)
  left=$((begin + budget - $(date +%s)))
  if [ "$left" -lt "$seconds" ]; then
    echo "skipped  $name: takes $seconds s, $((left > 0 ? left : 0)) s are left"
    continue
  fi
  limit=$((3 * seconds < left ? 3 * seconds : left))
  folder=$(mktemp -d) log=$RESULTS/$name.log status=0 began=$(date +%s)
  (cd "$folder" && exec timeout -k 5 "$limit" sh "$parts/$file") >"$log" 2>&1 &
  child=$!
  wait "$child" || status=$?
  child=
  rm -rf "$folder"
  took="$(($(date +%s) - began)) s"
  case $status in
    0) echo "ok       $name ($took): $(tail -n 1 "$log")" ;;
    77) echo "skipped  $name ($took): $(tail -n 1 "$log")" ;;
    *)
      failed=1
      case $status in
        124 | 137) echo "FAILED   $name ($took): ended after $limit s; what it had measured is kept" ;;
        *) echo "FAILED   $name ($took)" ;;
      esac
      tail -n 40 "$log" | sed 's/^/         /'
      ;;
  esac
done

device=$(sed -n '2s/,.*//p' "$RESULTS/launches.csv" 2>/dev/null || true)
for file in $chosen; do
  name=$(name_of "$file")
  target=$(stated "$file" lands | sed "s/DEVICE/${DEVICE:-${device:-DEVICE}}/")
  table=$RESULTS/$name.csv
  if [ -z "$target" ] || [ ! -e "$table" ] || [ "$(wc -l <"$table")" -lt 2 ]; then continue; fi
  if [ "${target%/curves/*}" != "$target" ] && [ -e "$source/$target" ]; then
    echo "to land: tail -n +2 $table >>$source/$target"
  else
    echo "to land: cp $table $source/$target"
  fi
done
exit $failed
