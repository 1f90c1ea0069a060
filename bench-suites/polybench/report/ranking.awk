# The devices of each workload, best first, with their time over the best one's: `<` where the order is decided, `=`
# where the intervals overlap.

BEGIN {
  print "workload,time_of_best_ms,devices"
}

read_row() {
  workload = cell("case")
  if (!(workload in chain)) {
    order[++workloads] = workload
    best[workload] = 1000 * cell("time_s")
    chain[workload] = cell("device") " (" substr(cell("limiter"), 1, 1) ")"
    next
  }
  step = cell("decided") == "yes" || cell("decided") == "true" ? " < " : " = "
  chain[workload] = chain[workload] step cell("device") sprintf(" %.2f (%s)", cell("relative_time"), substr(cell("limiter"), 1, 1))
}

END {
  for (i = 1; i <= workloads; ++i) printf "%s,%.3g,%s\n", order[i], best[order[i]], chain[order[i]]
}
