# Median and worst ratio of issue slots with counters over those without, of the rows of count_overhead.

NR == 1 {
  width = split_csv($0, cells)
  for (i = 1; i <= width; ++i) column[cells[i]] = i
  next
}
{
  split_csv($0, cells)
  if (cells[column["status"]] != "ok") {
    ++uncounted
    next
  }
  minimal[++n] = cells[column["overhead"]] + 0
  every[n] = cells[column["overhead_every_block"]] + 0
}

function sort(values, count,    i, j, v) {
  for (i = 2; i <= count; ++i) {
    v = values[i]
    for (j = i - 1; j > 0 && values[j] > v; --j) values[j + 1] = values[j]
    values[j + 1] = v
  }
}
function row(name, values) {
  sort(values, n)
  printf "| %-23s | %6.3f | %5.3f |\n", name, (values[int((n + 1) / 2)] + values[int(n / 2) + 1]) / 2, values[n]
}

END {
  printf "Issue slots with counters over those without, %d kernel configurations", n
  if (uncounted) printf ", %d more not counted", uncounted
  print ":\n"
  print "| placement               | median | worst |"
  print "|-------------------------|--------|-------|"
  row("minimal", minimal)
  row("every block, as [braun]", every)
}
