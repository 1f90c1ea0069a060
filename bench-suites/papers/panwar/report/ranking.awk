# The four GPUs per kernel, best first, as one group and as all groups rank them. `A = B` where the intervals overlap,
# so that the order is not decided. The paper prints no rankings; it names the model's choice for AES only.

BEGIN {
  print "workload,one_group,all_groups,same_order,paper_choice"
  printed["aes"] = "hd7970"
}

read_row() {
  workload = cell("case")
  if (!(workload in seen)) { seen[workload] = 1; order[++workloads] = workload }
  key = workload SUBSEP mode
  step = key in chain ? (cell("decided") == "yes" || cell("decided") == "true" ? " < " : " = ") : ""
  chain[key] = chain[key] step cell("device") sprintf(" (%.2f)", cell("relative_time"))
  names[key] = names[key] " " cell("device")
}

END {
  for (i = 1; i <= workloads; ++i) {
    first = order[i] SUBSEP "first"
    every = order[i] SUBSEP "all"
    printf "%s,%s,%s,%s,%s\n", order[i], chain[first], chain[every], names[first] == names[every] ? "yes" : "no",
      printed[order[i]]
  }
}
