# Figures 6 and 7: seconds to emulate one group and all groups of a reduction and of a matrix product as their input
# grows (all groups: processor time of the process less that of a process for one), and the projected time of Figure
# 7's device. A slope is that of the line through this size and the one before on logarithmic axes: the exponent of
# the growth.

BEGIN { print "workload,size,groups,one_group_s,all_groups_s,one_slope,all_slope,c2050_s,one_group_over_c2050" }

function slope(now, before, size, size_before) {
  return sprintf("%.2f", log(now / before) / log(size / size_before))
}

read_row() {
  if (from == "device") {
    projected[cell("case")] += cell("time_s")
    next
  }
  name = cell("workload")
  if (from == "pairs") {
    all[name] = one[name] + cell("b_cpu_s") - cell("a_cpu_s")
    next
  }
  order[++rows] = name
  groups[name] = cell("groups_per_launch")
  one[name] = cell("one_group_s")
}

END {
  for (i = 1; i <= rows; ++i) {
    name = order[i]
    split(name, parts, "_n=")
    same = parts[1] == workload
    printf "%s,%s,%s,%s,%.3g,%s,%s,%.3g,%.2g\n", parts[1], parts[2], groups[name], one[name], all[name],
      same ? slope(one[name], one[before], parts[2], size) : "", same ? slope(all[name], all[before], parts[2], size) : "",
      projected[name], one[name] / projected[name]
    workload = parts[1]; size = parts[2]; before = name
  }
}
