# Measured launches that have kernel rows, by suite, and the reasons of those that have none.
#   awk -f ../csv.awk -f coverage.awk kernels/*.csv missing/*.csv measured/*.csv
FNR == 1 { suite = FILENAME; sub(/.*\//, "", suite); sub(/\.csv$/, "", suite) }
!read_row() { next }
FILENAME ~ /kernels\// { row[suite, cell("kernel"), cell("case")] = row[suite, "total", cell("case")] = 1; next }
FILENAME ~ /missing\// { reason[suite, cell("kernel"), cell("case")] = cell("reason"); next }
seen[suite, cell("kernel"), cell("case")]++ { next }
{
  if (!(suite in all)) suites[++count] = suite
  ++all[suite]
  if ((suite, cell("kernel"), cell("case")) in row) { ++with[suite]; next }
  why = reason[suite, cell("kernel"), cell("case")]
  if (why == "") why = "not tried"
  if (!((suite, why) in times)) reasons[suite, ++kinds[suite]] = why
  ++times[suite, why]
}
END {
  print "| suite | launches | with rows | without |"
  print "|---|---|---|---|"
  for (i = 1; i <= count; ++i) {
    suite = suites[i]
    text = ""
    for (k = 1; k <= kinds[suite]; ++k)
      text = text (k > 1 ? "; " : "") times[suite, reasons[suite, k]] " " reasons[suite, k]
    print "| " suite " | " all[suite] " | " with[suite] + 0 " | " (text == "" ? "–" : text) " |"
  }
}
