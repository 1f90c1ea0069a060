# Steps of programs.sh: a list of what was measured, the kernels' times together, a line of the table, what closes it.
what == "list" && read_row() { print cell("program"), cell("version"), cell("device"), cell("time_s") }
what == "sum" && read_row() { sum += cell("time_s") }
what == "row" && read_row() && cell("kernel") == "total" {
  printf "| %s | %s | %s | %.3g | %.3g | %.2f | %.3g to %.3g | %.3g |\n", program, version, cell("device"), 1e3 * measured,
         1e3 * cell("time_s"), cell("time_s") / measured, 1e3 * cell("time_low_s"), 1e3 * cell("time_high_s"), 1e3 * kernels
}
what == "close" {
  split($0, cells, "|")
  split(cells[8], ends, " to ")
  whole[NR] = off(cells[7])
  alone[NR] = off(cells[9] / cells[5])
  held += ends[1] <= cells[5] + 0 && cells[5] + 0 <= ends[2]
}
function off(ratio) { return ratio > 1 ? ratio - 1 : 1 - ratio }
function median(of, n,    i, j, t) {
  for (i = 2; i <= n; ++i)
    for (j = i; j > 1 && of[j - 1] > of[j]; --j) { t = of[j]; of[j] = of[j - 1]; of[j - 1] = t }
  return n % 2 ? of[(n + 1) / 2] : (of[n / 2] + of[n / 2 + 1]) / 2
}
END {
  if (what == "sum") print sum
  if (what == "close")
    printf "\n%d times: median error %.0f %%, of the kernels alone %.0f %%; %d in their interval.\n", NR, \
           100 * median(whole, NR), 100 * median(alone, NR), held
}
