# Processor time of whole processes, miniemu with all groups on one thread against Oclgrind with --inst-counts, and the
# geometric mean of the ratios.

BEGIN { print "workload,miniemu_cpu_s,oclgrind_cpu_s,ratio" }

read_row() {
  printf "%s,%.4f,%.2f,%.0f\n", cell("workload"), cell("a_cpu_s"), cell("b_cpu_s"), cell("ratio")
  sum += log(cell("ratio"))
  ++count
  if (count == 1 || cell("ratio") + 0 < worst) worst = cell("ratio") + 0
}

END { if (count) printf "geometric mean,,,%.0f\nworst,,,%.0f\n", exp(sum / count), worst }
