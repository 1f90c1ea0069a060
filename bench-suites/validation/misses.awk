# The default model's misses beyond 1.5 times, by cause: how many launches, and the median of projected over measured.
#   awk -f ../csv.awk -f misses.awk misses.csv COMPARISONS
# misses.csv names the cause for a suite, its program, and the beginning of the kernel's name (empty: all of them); the
# first row that fits counts.
FNR == 1 { ++file }
!read_row() { next }
file == 1 {
  suites[++rows] = cell("suite"); programs[rows] = cell("program"); kernels[rows] = cell("kernel"); causes[rows] = cell("cause")
  next
}
cell("model") != "queue" || cell("time_s") == "" { next }
{
  ++times
  ratio = cell("time_s") / cell("measured_s")
  if (ratio >= 1 / 1.5 && ratio <= 1.5) next
  cause = "not known"
  for (i = 1; i <= rows; ++i)
    if (suites[i] == cell("suite") && programs[i] == cell("program") && index(cell("kernel"), kernels[i]) == 1) {
      cause = causes[i]
      break
    }
  if (!n[cause]++) order[++many] = cause
  ratios[cause, n[cause]] = ratio
  if (!((cause, cell("program")) in seen)) {
    seen[cause, cell("program")] = 1
    names[cause] = names[cause] (names[cause] == "" ? "" : ", ") cell("program")
  }
}
function median(cause,    i, j, t) {
  for (i = 2; i <= n[cause]; ++i) {
    t = ratios[cause, i]
    for (j = i - 1; j >= 1 && ratios[cause, j] > t; --j) ratios[cause, j + 1] = ratios[cause, j]
    ratios[cause, j + 1] = t
  }
  return ratios[cause, int((n[cause] + 1) / 2)]
}
END {
  print "| cause | times | projected / measured, median | programs |"
  print "|---|---|---|---|"
  for (k = 1; k <= many; ++k) {
    best = k
    for (i = k; i <= many; ++i) if (n[order[i]] > n[order[best]]) best = i
    t = order[k]; order[k] = order[best]; order[best] = t
    total += n[order[k]]
    printf "| %s | %d | %.2f | %s |\n", order[k], n[order[k]], median(order[k]), names[order[k]]
  }
  printf "| all, of %d times | %d | | |\n", times, total
}
