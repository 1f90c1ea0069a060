# What each workload executes and moves, over all its kernels and launches.

BEGIN {
  print "workload,kernels,launches,groups,instructions,global_GB,per_byte"
}

read_row() {
  workload = cell("case")
  if (!(workload in launches)) order[++workloads] = workload
  if (!((workload, cell("kernel")) in seen)) ++kernels[workload]
  seen[workload, cell("kernel")] = 1
  launches[workload] += cell("launches")
  groups[workload] += cell("groups_total")
  instructions[workload] += cell("inst_total")
  bytes[workload] += cell("global_load_bytes") + cell("global_store_bytes")
}

END {
  for (i = 1; i <= workloads; ++i) {
    w = order[i]
    printf "%s,%d,%d,%d,%.3g,%.3g,%.2f\n", w, kernels[w], launches[w], groups[w], instructions[w], bytes[w] / 1e9,
      instructions[w] / bytes[w]
  }
}
