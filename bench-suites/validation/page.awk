# The suites on one page: what was measured by whom, how far off the default model is, and how it orders devices beside the
# best of the orders that need no kernel.
#   awk -f ../csv.awk -f page.awk suites.csv MEASURED SCORES
function figure(text, digits) { return text == "" ? "–" : sprintf("%." digits "f", text) }
!read_row() { ++file; next }
file == 1 { by[cell("suite")] = cell("source"); next }
file == 2 {
  suite = cell("suite")
  if (!((suite, cell("program")) in seen)) { seen[suite, cell("program")] = 1; ++programs[suite] }
  if (!((suite, "on", cell("device")) in seen)) { seen[suite, "on", cell("device")] = 1; ++devices[suite] }
  next
}
cell("by") != "suite" { next }
{ suite = cell("group"); model = cell("model") }
model == "queue" {
  order[++count] = suite
  left[suite] = cell("times") " | " figure(cell("median_error_pct"), 0) " | " figure(cell("within_half_pct"), 0) " | " figure(cell("coverage_pct"), 0)
  own[suite] = figure(cell("best_picked_pct"), 0) " / " figure(cell("mean_penalty_pct"), 0) " / " figure(cell("tau"), 2)
}
model ~ /^(order:peak|order:most|trivial:roofline)/ && cell("tau") != "" && (!(suite in best) || cell("tau") > best[suite]) {
  best[suite] = cell("tau")
  says = model == "order:peak_flops" ? "stated flops" : model == "order:peak_bandwidth" ? "stated bandwidth" : model == "trivial:roofline" ? "roofline" : "most often fastest"
  other[suite] = figure(cell("best_picked_pct"), 0) " / " figure(cell("mean_penalty_pct"), 0) " / " figure(cell("tau"), 2) " (" says ")"
}
END {
  print "| suite | measured by | programs | devices | times | median error, % | within 1.5, % | covered, % | fastest picked % / lost % / tau | the best order without the kernel |"
  print "|---|---|---|---|---|---|---|---|---|---|"
  for (i = 1; i <= count; ++i) {
    suite = order[i]
    ranked = own[suite] !~ /^–/
    print "| " suite " | " by[suite] " | " programs[suite] " | " devices[suite] " | " left[suite] " | " (ranked ? own[suite] : "–") " | " (ranked ? other[suite] : "–") " |"
  }
}
