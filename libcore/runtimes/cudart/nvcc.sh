#!/bin/sh
# In the place of nvcc, first on the PATH of an attached application: where machine code is asked for (PyCUDA's SourceModule runs
# "nvcc --cubin"), it is PTX, which the emulator runs. All else is nvcc's own.
own=$(dirname "$0")
rest=
IFS=:
for folder in $PATH; do
  [ "$folder" = "$own" ] || rest=${rest:+$rest:}$folder
done
unset IFS
PATH=$rest
export PATH
command -v nvcc >/dev/null || { echo "nvcc: not found" >&2; exit 127; }
machine_code=no output=
for argument; do
  shift
  case $argument in
    --cubin | -cubin)
      machine_code=yes
      argument=--ptx
      ;;
    -o | --output-file) output=next ;;
    --output-file=*) output=${argument#*=} ;;
    *.cu) stem=$(basename "$argument" .cu) ;;
  esac
  [ "$output" = next ] && [ "$argument" != -o ] && [ "$argument" != --output-file ] && output=$argument
  set -- "$@" "$argument"
done
[ $machine_code = yes ] || exec nvcc "$@"
[ -n "$output" ] || { output=${stem:-a}.cubin; set -- "$@" -o "$output"; }
nvcc "$@" && printf '\0' >>"$output"
