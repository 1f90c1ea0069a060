#!/bin/sh
# bash.sh FOLDER: what bash offers for these command lines.
command -v bash >/dev/null || { echo "kernelcast-skipped: bash is not installed"; exit 0; }
exec bash -s "$1" <<'BASH'
set -eu
folder=$1
status=0
for file in "$folder"/*; do bash -n "$file" || status=1; done
. "$folder/rank"
. "$folder/kernelcast"
offers() {  # FUNCTION WANTED WORD...: the last one is being completed
  local function=$1 wanted=$2
  shift 2
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  "$function"
  [ "${COMPREPLY[*]-}" = "$wanted" ] || { echo "$*: '${COMPREPLY[*]-}', not '$wanted'"; status=1; }
}
offers _kernelcast_rank "--format" rank --form
offers _kernelcast_rank "csv" rank --format c
offers _kernelcast_rank "--total --total-as" rank --tot
offers _kernelcast_kernelcast "choose" kernelcast cho
offers _kernelcast_kernelcast "perfcast perdome" kernelcast per
offers _kernelcast_kernelcast "--prices" kernelcast choose --pri
offers _kernelcast_kernelcast "cost" kernelcast choose --by c
offers _kernelcast_kernelcast "--calibrate" kernelcast rank --cal
offers _kernelcast_kernelcast "queue" kernelcast perfcast --model q
offers _kernelcast_kernelcast "gh200" kernelcast perfcast --device gh20
offers _kernelcast_kernelcast "--budget" kernelcast advise --bud
cd "$folder"
offers _kernelcast_rank "seqprof" rank seqp
exit $status
BASH
