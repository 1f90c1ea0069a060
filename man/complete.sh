#!/bin/sh
# complete.sh DIR PROGRAM…: every program has a page.
dir=$1
shift
status=0
for program; do
  [ -f "$dir/$program.1.scd" ] || { echo "man/$program.1.scd is missing"; status=1; }
done
exit $status
