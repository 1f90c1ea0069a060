#!/bin/sh
# field.sh DATA COLUMN: a cell of forests.csv.
exec awk -v data="$1" -v wanted="$2" -f ../csv.awk -f report/field.awk forests.csv
