# How often the best device is picked, the mean selection penalty and the relative error, of the model and of rankings that
# need none, of summary.csv.
#   awk -f ../../csv.awk -f penalties.awk summary.csv
!read_row() { next }
{
  row = cell("of") "," cell("devices")
  if (!(row in seen)) rows[++count] = row
  seen[row] = 1
  model = cell("model")
  if (!(model in known)) models[++width] = model
  known[model] = 1
  error = cell("mean_relative_error_pct")
  text[row, model] = cell("best_picked_pct") " %; " cell("mean_selection_penalty_pct") " %" (error == "" ? "" : "; " error " %")
}
END {
  printf "kernel,devices"
  for (m = 1; m <= width; ++m) printf ",%s", models[m]
  print ""
  for (i = 1; i <= count; ++i) {
    printf "%s", rows[i]
    for (m = 1; m <= width; ++m) printf ",%s", text[rows[i], models[m]]
    print ""
  }
}
