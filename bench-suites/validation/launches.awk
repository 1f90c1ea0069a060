# What a launch costs on each device of a suite: of those that were measured with less than 30 us, the median of the
# measured time over what is projected without a cost of launches. Devices with less than 30 such launches have none.
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
    for (i = 2; i <= n[device]; ++i)
      for (j = i; j > 1 && cost[device, j - 1] > cost[device, j]; --j) {
        t = cost[device, j]; cost[device, j] = cost[device, j - 1]; cost[device, j - 1] = t
      }
    printf "%s,%s,%.2g,median of %d chosen launches below 30 us\n", suite, device, cost[device, int((n[device] + 1) / 2)], n[device] | "sort"
  }
}
