# A row of scores, less what the chain does not vary.
read_row() {
  printf "%s,%s,%d,%.1f,%.1f,%.0f\n", group, what, cell("samples"), cell("mape_pct"), cell("median_pct"), cell("coverage_pct")
}
