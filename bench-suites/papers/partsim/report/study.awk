# How often each model picks the best in each study, and what it loses on average and at most; the choices that need no
# model beside. A row per study, a cell per model: best picked (%) / mean / largest loss (%).
# Usage: awk -f csv.awk -f study.awk study=NAME FILE …, or by=COLUMN FILE: by the values of a column.
!read_row() { next }
{
  row = by == "" ? study : cell(by)
  model = cell("model")
  if (!(row in choices)) rows[++row_count] = row
  if (!(model in known)) { known[model] = 1; models[++model_count] = model }
  v = cell("penalty_pct") + 0
  n = ++count[row, model]
  if (n > choices[row]) choices[row] = n
  sum[row, model] += v
  if (v > most[row, model]) most[row, model] = v
  if (v < 1e-6) best[row, model]++
}
END {
  printf "%s,choices", by == "" ? "study" : by
  for (m = 1; m <= model_count; ++m) printf ",%s", models[m]
  print ""
  for (r = 1; r <= row_count; ++r) {
    printf "%s,%d", rows[r], choices[rows[r]]
    for (m = 1; m <= model_count; ++m) {
      key = rows[r] SUBSEP models[m]
      if (count[key]) printf ",%.1f / %.3g / %.3g", 100 * best[key] / count[key], sum[key] / count[key], most[key]
      else printf ","
    }
    print ""
  }
}
