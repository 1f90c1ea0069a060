# The scores of each data set: the mean over its devices; forest first, then what it has to beat.
read_row() {
  key = cell("data_set") "," cell("left_out") "," cell("predictor")
  if (!n[key]++) order[++keys] = key
  samples[key] += cell("samples")
  factor[key] += log(cell("factor"))
  middle[key] += cell("median_pct")
  mape[key] += cell("mape_pct")
}
END {
  print "data_set,left_out,predictor,devices,samples,factor,median_pct,mape_pct"
  for (i = 1; i <= keys; ++i) {
    key = order[i]
    printf "%s,%d,%d,%.3f,%.1f,%.1f\n", key, n[key], samples[key], exp(factor[key] / n[key]), middle[key] / n[key], mape[key] / n[key]
  }
}
