# Errors of held-out predictions, beside those of a constant, the median of all the others.
#   awk -f csv.awk -f median.awk -v target=power_w -v device=D -v scheme=S -f published_errors.awk predictions.csv
function abs(x) { return x < 0 ? -x : x }
read_row() {
  stem = target == "power_w" ? "power_w" : "time_s"
  measured[++n] = cell(target == "power_w" ? "measured_w" : "measured_s") + 0
  predicted[n] = cell(stem) + 0
}
END {
  for (i = 1; i <= n; ++i) {
    error[i] = 100 * abs(predicted[i] / measured[i] - 1)
    sum += error[i]
    five += error[i] <= 5
    ten += error[i] <= 10
    others = 0
    for (j = 1; j <= n; ++j) if (j != i) other[++others] = measured[j]
    constant += 100 * abs(median(other, others) / measured[i] - 1)
  }
  printf "%s,%s,%s,%d,%.1f,%.1f,%.0f,%.0f,%.1f\n", target, device, scheme, n, sum / n, median(error, n), 100 * five / n, 100 * ten / n, constant / n
}
