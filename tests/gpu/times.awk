# Measured kernel times (the first file) beside akemu's: a table, the mean absolute error in percent of the measured
# time and the correlation of the logarithms. With bench-suites/csv.awk. Ends with 1 when the error is above `limit`,
# or, with a limit below 1e6, the correlation below 0.95.

BEGIN { print "| kernel | case | measured | akemu | error | limiter |\n|---|---|---|---|---|---|" }
$0 ~ /(^|,)kernel,case,/ {
  file += FNR == 1
  columns = split_csv($0, names)
  split("", column)
  for (i = 1; i <= columns; ++i) column[names[i]] = i
  next
}
{
  split("", cells)
  split_csv($0, cells)
  key = cells[column["kernel"]] "|" cells[column["case"]]
}
file == 1 {
  measured[key] = cells[column["time_s"]]
  next
}
!(key in measured) { next }
cells[column["status"]] != "ok" {
  printf "| %s | %s | %.3g s | %s | | |\n", cells[column["kernel"]], cells[column["case"]], measured[key], cells[column["reason"]]
  next
}
{
  time = cells[column["time_s"]]
  error = 100 * (time / measured[key] - 1)
  printf "| %s | %s | %.3g s | %.3g s | %+.0f %% | %s |\n", cells[column["kernel"]], cells[column["case"]], measured[key],
    time, error, cells[column["limiter"]]
  sum += error < 0 ? -error : error
  x = log(measured[key])
  y = log(time)
  sx += x; sy += y; sxx += x * x; syy += y * y; sxy += x * y
  ++n
}
END {
  if (n < 2) {
    print "fewer than two kernels with a time"
    exit 1
  }
  spread = sqrt((n * sxx - sx * sx) * (n * syy - sy * sy))
  correlation = spread > 0 ? (n * sxy - sx * sy) / spread : 0
  printf "\n%d kernels: mean absolute error %.1f %%, correlation of the logarithms %.3f\n", n, sum / n, correlation
  exit (sum / n > limit || (limit < 1e6 && correlation < 0.95))
}
