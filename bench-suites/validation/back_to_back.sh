#!/bin/sh
# Scores of the default model for launches back to back, as Markdown: with what their execution hides of what they cost,
# and with all of it. Only pmpp has such times.
#   back_to_back.sh BIN DEVDB PART
set -eu
bin=$1 devdb=$2 part=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
csv() { awk -f ../csv.awk "$@"; }
csv -f measured.awk -v parts="$part" -v back_to_back=1 split.csv measured/pmpp.csv >"$work/measured"
# Between launches of next to nothing: the shortest of each system's chosen ones.
intervals=$(csv -f measured.awk -v parts=chosen -v back_to_back=1 split.csv measured/pmpp.csv |
  awk -F, 'NR > 1 && (!($7 in least) || $8 + 0 < least[$7]) { least[$7] = $8 + 0 }
           END { for (device in least) list = list sprintf("%s%s=%g", list == "" ? "" : ",", device, least[device]); print list }')
echo "| launches cost | times | median error, % | bias, % | within 1.5 | covered, % |"
echo "|---|---|---|---|---|---|"
for how in back-to-back alone; do
  "$bin/perfcast" --quiet --devdb "$devdb" --device "$(csv -f devices.awk measured/pmpp.csv)" --caches warm --launches $how \
    --launch-cost "$intervals" kernels/pmpp.csv -o "$work/rows"
  "$bin/rank" --quiet --devdb "$devdb" --measured "$work/measured" --scores "$work/rows" -o "$work/scores"
  what="what the execution before does not hide"
  [ $how = alone ] && what="their whole interval besides"
  csv -v what="$what" -f back_to_back.awk "$work/scores"
done
