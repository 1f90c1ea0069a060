#!/bin/sh
# check.sh TRAINED SHIPPED: the shipped forests are those that were trained, each of them and no others; but for the version
# of the program and where its files lay.
set -eu
trained=$1 shipped=$2 status=0
without_names() { grep -vE '^  "(program|features_file|targets_file)": '; }
for file in "$trained"/*.json; do
  name=$(basename "$file")
  if ! [ -f "$shipped/$name.zst" ]; then
    echo "$shipped has no $name.zst" >&2
    status=1
  elif [ "$(zstd -dcq "$shipped/$name.zst" | without_names | cksum)" != "$(without_names <"$file" | cksum)" ]; then
    echo "$shipped/$name.zst is not what this tree trains: make ship" >&2
    status=1
  fi
done
for file in "$shipped"/*.json.zst; do
  name=$(basename "$file" .zst)
  [ -f "$trained/$name" ] || { echo "$file: nothing here trains it" >&2; status=1; }
done
[ $status = 0 ] && echo "the forests of $shipped are those that this tree trains"
exit $status
