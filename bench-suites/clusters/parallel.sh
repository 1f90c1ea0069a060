#!/bin/sh
# The sweep in eight parts with GNU parallel, one on each core: rows.csv.
# After an interruption run it again: parts that are done are left alone, the
# others go on at the point where they were.
set -eu
mkdir -p parts
seq 0 7 | parallel --joblog parts/joblog --resume-failed \
  miniemu sweep.toml --threads 1 --shard {}/8 --resume parts/{}.csv -o parts/{}.csv
kernelcast merge --parts 8 parts/*.csv -o rows.csv
