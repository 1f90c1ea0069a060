# What people read of the scores: the mean over the suites, as a Markdown table.
function figure(name, digits) { return cell(name) == "" ? "–" : sprintf("%." digits "f", cell(name)) }
BEGIN {
  print "| model | times | median error, % | bias, % | within 1.5 | all within 30 % | best device, % | penalty, % | tau | covered, % |"
  print "|---|---|---|---|---|---|---|---|---|---|"
}
!read_row() { next }
cell("by") == "suites" {
  print "| " cell("model") " | " cell("times") " | " figure("median_error_pct", 0) " | " figure("bias_pct", 0) " | " \
        figure("within_half_pct", 0) " | " figure("of_all_within_30_pct", 0) " | " figure("best_picked_pct", 0) " | " \
        figure("mean_penalty_pct", 0) " | " figure("tau", 2) " | " figure("coverage_pct", 0) " |"
}
