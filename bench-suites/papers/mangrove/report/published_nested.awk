# Nested cross-validation by device: MAPE of the iterations (least, greatest), the median over folds, and the settings that the
# search chose most often.
#   awk -f csv.awk -f median.awk -f published_nested.awk nested.csv
read_row() {
  d = cell("device")
  if (!(d in folds)) order[++devices] = d
  fold[d, ++folds[d]] = cell("mape_pct") + 0
  i = cell("iteration")
  sum[d, i] += cell("mape_pct")
  ++rows[d, i]
  if (i + 1 > iterations[d]) iterations[d] = i + 1
  ++chosen[d, cell("criterion") " " cell("max_features") " " cell("trees")]
}
END {
  print "target,device,iterations,mape_least_pct,mape_greatest_pct,median_of_folds_pct,criterion features trees,of folds"
  for (k = 1; k <= devices; ++k) {
    d = order[k]
    least = 1e300; greatest = 0
    for (i = 0; i < iterations[d]; ++i) {
      m = sum[d, i] / rows[d, i]
      if (m < least) least = m
      if (m > greatest) greatest = m
    }
    for (f = 1; f <= folds[d]; ++f) list[f] = fold[d, f]
    most = 0
    for (pair in chosen) {
      split(pair, p, SUBSEP)
      if (p[1] == d && (chosen[pair] > most || (chosen[pair] == most && p[2] < best))) { most = chosen[pair]; best = p[2] }
    }
    printf "power_w,%s,%d,%.2f,%.2f,%.2f,%s,%d of %d\n", d, iterations[d], least, greatest, median(list, folds[d]), best, most, folds[d]
  }
}
