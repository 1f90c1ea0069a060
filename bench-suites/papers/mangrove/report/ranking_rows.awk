# A line scheme;variant;best picked;penalty;relative error of each row of rank --summary; the trivial rankings are the same
# for all schemes.
read_row() {
  trivial = cell("model") ~ /^trivial:/
  print (trivial ? "" : scheme) ";" (trivial ? cell("model") : variant) ";" cell("best_picked_pct") ";" \
    cell("mean_selection_penalty_pct") ";" cell("mean_relative_error_pct")
}
