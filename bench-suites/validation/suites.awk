# The median error of each model on each suite, percent, as a Markdown table; and, where alternatives were measured, the
# regret of the first and of the best of ten.
!read_row() { next }
cell("by") != "suite" { next }
!(cell("model") in seen) { seen[cell("model")] = 1; models[++count] = cell("model") }
!(cell("group") in known) { known[cell("group")] = 1; suites[++groups] = cell("group") }
{
  error[cell("model"), cell("group")] = cell("median_error_pct")
  if (cell("problems") > 0) {
    chosen[cell("group")] = 1
    regret[cell("model"), cell("group")] = sprintf("%.0f / %.0f", cell("regret_1_pct"), cell("regret_10_pct"))
  }
}
END {
  line = "| model |"
  rule = "|---|"
  for (i = 1; i <= groups; ++i) { line = line " " suites[i] " |"; rule = rule "---|" }
  for (i = 1; i <= groups; ++i) if (suites[i] in chosen) { line = line " " suites[i] ": regret |"; rule = rule "---|" }
  print line
  print rule
  for (m = 1; m <= count; ++m) {
    line = "| " models[m] " |"
    for (i = 1; i <= groups; ++i) {
      text = error[models[m], suites[i]]
      line = line " " (text == "" ? "–" : sprintf("%.0f", text)) " |"
    }
    for (i = 1; i <= groups; ++i) if (suites[i] in chosen) {
      text = regret[models[m], suites[i]]
      line = line " " (text == "" ? "–" : text) " |"
    }
    print line
  }
}
