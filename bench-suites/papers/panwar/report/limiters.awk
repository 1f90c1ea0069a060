# Figure 3 for reading: one line per workload, per GPU the limiter and the time over the C1060's; where emulating all
# groups gives something else, that follows after a slash; where the limiter is another without the doubtful figures, that
# follows in brackets.

read_row() {
  workload = cell("workload")
  if (!(workload in seen)) { seen[workload] = 1; order[++workloads] = workload }
  device = cell("device")
  if (!(device in known)) { known[device] = 1; devices[++device_count] = device }
  text[workload, device, cell("mode")] = cell("limiter") sprintf(" %.2f", cell("relative_to_c1060"))
  if (cell("mode") == "first") time_ms[workload] = device == "c1060" ? cell("time_ms") : time_ms[workload]
}

END {
  printf "workload,c1060_ms"
  for (d = 1; d <= device_count; ++d) printf ",%s", devices[d]
  print ""
  for (i = 1; i <= workloads; ++i) {
    printf "%s,%s", order[i], time_ms[order[i]]
    for (d = 1; d <= device_count; ++d) {
      one = text[order[i], devices[d], "first"]
      every = text[order[i], devices[d], "all"]
      sound = text[order[i], devices[d], "sound"]
      printf ",%s%s", one == every ? one : one " / " every,
        substr(sound, 1, 1) == substr(one, 1, 1) ? "" : " [" sound "]"
    }
    print ""
  }
}
