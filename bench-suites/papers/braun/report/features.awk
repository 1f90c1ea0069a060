# The features by the authors' definition over those by the suite's, a row per kernel: 1 where both count the same.
#   awk -f csv.awk -f features.awk features.suite.csv features.authors.csv
BEGIN {
  count = split("inst_total inst_special inst_logic inst_control inst_arithmetic inst_sync global_bytes param_bytes " \
                "shared_bytes_moved arithmetic_intensity", feature, " ")
  printf "kernel"
  for (f = 1; f <= count; ++f) printf ",%s", feature[f]
  print ""
}
read_row() {
  kernel = cell("kernel")
  if (cell("definition") == "suite") {
    for (f = 1; f <= count; ++f) suite[kernel, f] = cell(feature[f])
    next
  }
  printf "%s", kernel
  for (f = 1; f <= count; ++f) {
    ours = suite[kernel, f]; theirs = cell(feature[f])
    printf ",%s", ours + 0 ? sprintf("%.3g", theirs / ours) : theirs + 0 ? "only theirs" : ""
  }
  print ""
}
