#!/bin/sh
# In the place of ptxas: the machine code is the PTX, which the emulator runs.
# kernelcast-ptxas OPTIONS… FILE -o OUTPUT
input= output=elf.o
while [ $# -gt 0 ]; do
  case $1 in
    --version | -V)
      # The newest PTX that its caller writes goes by this.
      echo "kernelcast-ptxas, release 12.8, V12.8.0"
      exit 0
      ;;
    -o | --output-file)
      output=$2
      shift
      ;;
    --output-file=*) output=${1#*=} ;;
    -*) ;;
    *) [ ! -f "$1" ] || input=$1 ;;  # options may have a value of their own
  esac
  shift
done
if [ -z "$input" ]; then
  echo "kernelcast-ptxas: error: no file of PTX was given" >&2
  exit 1
fi
{ cat "$input" && printf '\0'; } >"$output"
