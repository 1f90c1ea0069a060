# Quartiles and means of columns beside the paper's table. A row per model and quartile.
# Usage: awk -f csv.awk -f quartiles.awk wanted=error_pct,abs:error_s,sq:error_s paper=table.csv FILE…
# abs: and sq: take the absolute value and the square; diff:a-b the absolute difference of two columns.
function value(what,    parts, ends, d) {
  if (split(what, parts, ":") == 1) return cell(what) + 0
  if (parts[1] == "sq") return cell(parts[2]) ^ 2
  d = split(parts[2], ends, "-") == 1 ? cell(parts[2]) + 0 : cell(ends[1]) - cell(ends[2])
  return d < 0 ? -d : d
}
function sort(list, n,    gap, i, j, t) {
  for (gap = int(n / 2); gap > 0; gap = int(gap / 2))
    for (i = gap + 1; i <= n; ++i) {
      t = list[i]
      for (j = i; j > gap && list[j - gap] > t; j -= gap) list[j] = list[j - gap]
      list[j] = t
    }
}
function quantile(list, n, q,    place, below) {
  place = 1 + q * (n - 1); below = int(place)
  return below >= n ? list[n] : list[below] + (place - below) * (list[below + 1] - list[below])
}
!read_row() { next }
{
  model = cell("model")
  if (label != "" && model ~ /^trivial:/) next  # the same without the label
  model = model (label == "" ? "" : " " label)
  if (!(model in count)) order[++models] = model
  k = ++count[model]
  for (c = split(wanted, what, ","); c > 0; --c) data[model, c, k] = value(what[c])
}
END {
  getline < paper
  print "model,quantity," substr($0, index($0, ",") + 1)
  while ((getline < paper) > 0) print "paper," $0
  width = split(wanted, what, ",")
  for (m = 1; m <= models; ++m) {
    n = count[order[m]]
    split("0.25 0.5 0.75 mean", quantity, " ")
    for (q = 1; q <= 4; ++q) {
      line = order[m] "," (q < 4 ? "Q" q : "mean")
      for (c = 1; c <= width; ++c) {
        sum = 0
        for (k = 1; k <= n; ++k) sum += list[k] = data[order[m], c, k]
        if (q < 4) sort(list, n)
        line = line "," sprintf("%.4g", q < 4 ? quantile(list, n, quantity[q]) : sum / n)
      }
      print line
    }
  }
}
