# What a launch costs on each device of a suite: of those that were measured with less than 30 us, the median of the
# measured time over what is projected without a cost of launches. Devices with less than 30 such launches have none,
# nor suites of a single system.
#   awk -f ../csv.awk -v suite=NAME -f launches.awk MEASURED PROJECTIONS
!read_row() { next }
FILENAME == ARGV[1] {
  if (cell("suite") == suite && cell("time_s") + 0 < 30e-6)
    time[cell("kernel"), cell("case"), cell("device")] = cell("time_s")
  next
}
(cell("kernel"), cell("case"), cell("device")) in time && cell("time_s") != "" {
  device = cell("device")
  cost[device, ++n[device]] = time[cell("kernel"), cell("case"), device] - cell("time_s")
}
END {
  for (device in n) {
    if (n[device] < 30) continue
    ++systems
    for (i = 2; i <= n[device]; ++i)
      for (j = i; j > 1 && cost[device, j - 1] > cost[device, j]; --j) {
        t = cost[device, j]; cost[device, j] = cost[device, j - 1]; cost[device, j - 1] = t
      }
    line[systems] = sprintf("%s,%s,%.2g,median of %d chosen launches below 30 us", suite, device, \
                            cost[device, int((n[device] + 1) / 2)], n[device])
  }
  for (i = 1; systems > 1 && i <= systems; ++i) print line[i] | "sort"
}
