# Median, mean and worst ratio of kernel times of count_overhead rows; status 1 where the minimal placement misses its
# goals.

!read_row() || cell("time_overhead") == "" { next }
{
  ++n
  minimal[n] = cell("time_overhead") + 0
  every[n] = cell("time_overhead_every_block") + 0
}

function summarise(values,    i, j, v, sum) {
  for (i = 2; i <= n; ++i) {
    v = values[i]
    for (j = i - 1; j > 0 && values[j] > v; --j) values[j + 1] = values[j]
    values[j + 1] = v
  }
  for (i = 1; i <= n; ++i) sum += values[i]
  median = (values[int((n + 1) / 2)] + values[int(n / 2) + 1]) / 2
  mean = sum / n
  worst = values[n]
}

END {
  if (n == 0) {
    print "no kernel was timed"
    exit 1
  }
  summarise(every)
  beside = sprintf("every block, as [braun]: median %.2f, mean %.2f, worst %.2f", median, mean, worst)
  summarise(minimal)
  printf "%d configurations: minimal: median %.2f, mean %.2f, worst %.2f; %s\n", n, median, mean, worst, beside
  exit median > 1.5 || mean > 2 || worst > 5
}
