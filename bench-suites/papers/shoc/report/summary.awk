# Projections of several files as one, without the devices named in `without`.
#   awk -f summary.awk -v without="a b" p.csv ...
BEGIN {
  FS = ","
  count = split(without, names, " ")
  for (i = 1; i <= count; ++i) left_out[names[i]] = 1
}
(FNR > 1 || NR == 1) && !($3 in left_out)
