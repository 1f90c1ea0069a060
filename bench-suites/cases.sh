#!/bin/sh
# Cases of a suite and how to run them. A case is called as its rows are: the launch file's stem and the sets that were
# chosen, joined by _.
#   cases.sh list FOLDER SET      the cases of a size: all launch files that have it, in both precisions where they have two
#   cases.sh launch FOLDER CASE   FOLDER/gemm.toml --set dp --set s1, of gemm_dp_s1
set -eu
folder=$2
case $1 in
  list)
    for file in $(grep -l "^$3 = {" "$folder"/*.toml); do
      stem=$(basename "$file" .toml)
      precisions=$(sed -n 's/^\([sd]p\) = {.*/_\1/p' "$file")
      for precision in ${precisions:-''}; do echo "$stem${precision}_$3"; done
    done
    ;;
  launch)
    stem=$3 sets=
    while [ ! -e "$folder/$stem.toml" ]; do
      case $stem in
        *_*) sets=" --set ${stem##*_}$sets" stem=${stem%_*} ;;
        *) echo "$0: no launch file in $folder is of the case '$3'" >&2; exit 1 ;;
      esac
    done
    echo "$folder/$stem.toml$sets"
    ;;
esac
