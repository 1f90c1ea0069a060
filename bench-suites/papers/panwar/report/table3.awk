# Table III: the time to emulate all groups over the time to emulate one, beside the paper's four rows. The ceiling is
# the number of groups of a launch. `process_ratio` is that of whole miniemu processes, start-up and buffers included.
# Reads emulation.csv, process.csv and paper/table3.csv, in this order.

FNR == 1 { ++file }

file == 1 && read_row() {
  order[++workloads] = cell("workload")
  ours[cell("workload")] = cell("groups_per_launch") "," cell("one_group_s") "," cell("all_groups_s") "," cell("ratio")
}

file == 2 && read_row() { process[cell("workload")] = cell("ratio") }

file == 3 && read_row() {
  gpus[++gpu_count] = cell("device")
  for (i = 1; i <= workloads; ++i) paper[order[i], gpu_count] = cell(order[i])
}

END {
  printf "workload,groups,one_group_s,all_groups_s,ratio,process_ratio"
  for (g = 1; g <= gpu_count; ++g) printf ",paper_%s", gpus[g]
  print ""
  for (i = 1; i <= workloads; ++i) {
    printf "%s,%s,%.1f", order[i], ours[order[i]], process[order[i]]
    for (g = 1; g <= gpu_count; ++g) printf ",%s", paper[order[i], g]
    print ""
  }
}
