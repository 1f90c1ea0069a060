# Figure 5: global memory transactions that one group projects and that all groups make, on the C1060 (segments of 32,
# 64 and 128 bytes per half-warp, after shrinking) and the C2050 (lines of 128 bytes per warp). The paper prints a
# ratio for Floyd-Warshall only.

BEGIN {
  print "workload,device,one_group,all_groups,all_over_one,paper_all_over_one"
  printed["floyd_warshall", "c1060"] = "2.5"
  printed["floyd_warshall", "c2050"] = "1.1"
}

function both_ways(name) { return cell("global_load_" name) + cell("global_store_" name) }

read_row() {
  workload = cell("case")
  if (!(workload in seen)) { seen[workload] = 1; order[++workloads] = workload }
  count[workload, "c1060", mode] = both_ways("cc13_32") + both_ways("cc13_64") + both_ways("cc13_128")
  count[workload, "c2050", mode] = both_ways("tx_w32_s128")
}

END {
  split("c1060 c2050", devices, " ")
  for (i = 1; i <= workloads; ++i)
    for (d = 1; d <= 2; ++d) {
      one = count[order[i], devices[d], "first"]
      every = count[order[i], devices[d], "all"]
      printf "%s,%s,%.0f,%.0f,%.3f,%s\n", order[i], devices[d], one, every, one ? every / one : 0,
        printed[order[i], devices[d]]
    }
}
