#!/bin/sh
# index.sh RESULTS DATA…: the index of the shipped forests.
set -eu
results=$1
shift
echo device,data_set,file,kernels,samples,trees,seed,unseen,case_factor,case_trivial,case_trivial_factor,unseen_factor,unseen_trivial,unseen_trivial_factor,features,source,license,features_xxh3_64,targets_xxh3_64
for data; do
  awk -f ../csv.awk -f report/index.awk -v data="$data" -v unseen="$(sh report/field.sh "$data" unseen)" \
    -v source="$(sh report/field.sh "$data" source)" -v license="$(sh report/field.sh "$data" license)" \
    "$results/$data.targets.csv" "$results/$data.scores.csv" "$results"/forests/"$data"-*.json
done
