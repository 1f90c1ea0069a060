#!/bin/sh
# complete.sh DIR PROGRAM…: every program has a page, and `man kernelcast` opens the overview. man searches section 3
# before section 7, so no other page may be named kernelcast.
dir=$1
shift
status=0
for program; do
  [ "$program" = kernelcast ] && continue  # that is kernelcast(7); its verbs have pages of their own
  [ -f "$dir/$program.1.scd" ] || { echo "man/$program.1.scd is missing"; status=1; }
done
for page in "$dir"/kernelcast.[0-9].scd; do
  [ "$page" = "$dir/kernelcast.7.scd" ] || { echo "man/${page##*/} hides the overview, kernelcast(7)"; status=1; }
done
exit $status
