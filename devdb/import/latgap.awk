# Whether rows of devdb/latgap.csv are what the micro-benchmarks that they name printed.
#
#   awk -f bench-suites/csv.awk -f devdb/import/latgap.awk devdb/devices.csv gpubenches.csv devdb/latgap.csv
#
# A latency whose source names gpu-latency/DEVICE.txt (or gpu-latency, of the device that it was measured on) is, from
# latency_cycles to latency_high_cycles and 3 % more, the median over sets that fit the level: of the first level up to half of it, of the second from twice the first to a
# quarter of the second, of memory from twice the last level. A gap of the first level whose source names gpu-cache/DEVICE.txt
# is within 3 % of a line of 128 bytes over the bytes per clock and unit, the median over sets up to half of the first level.
# Prints a line for each row with what was printed and what it has; exit status 1 where one differs.

function of_device(source, benchmark, measured_on,    name) {
  if (match(source, benchmark "/[A-Za-z0-9_-]+\\.txt")) {
    name = substr(source, RSTART + length(benchmark) + 1, RLENGTH - length(benchmark) - 5)
    gsub(/_/, "-", name)
    return name
  }
  name = tolower(measured_on)
  return source ~ benchmark ? name : ""
}
function middle(list, n,    i, j, t) {
  for (i = 2; i <= n; ++i) {
    t = list[i]
    for (j = i - 1; j > 0 && list[j] > t; --j) list[j + 1] = list[j]
    list[j + 1] = t
  }
  return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}
function printed_latency(device, level,    i, n, list, low, high) {
  low = level == "l1" ? 0 : level == "l2" ? 2 * l1[device] : 2 * last[device]
  high = level == "l1" ? l1[device] / 2 : level == "l2" ? l2[device] / 4 : 1e300
  for (i = 1; i <= loads[device]; ++i)
    if (set[device, i] >= low && set[device, i] <= high) list[++n] = cycles[device, i]
  return n ? middle(list, n) : 0
}
function printed_rate(device,    i, n, list) {
  for (i = 1; i <= rates[device]; ++i)
    if (rate_set[device, i] <= l1[device] / 2) list[++n] = rate[device, i]
  return n ? middle(list, n) * 1e9 / units[device] / clock[device] : 0
}
function compare(what, printed, has, high,    good) {
  if (printed == 0) return
  ++compared
  good = printed > 0.97 * has && printed < 1.03 * high
  printf "%s: printed %.1f, the row has %.1f%s\n", what, printed, has, good ? "" : ": not within 3 %"
  if (!good) wrong = 1
}

!read_row() { ++file; next }
file == 1 {
  device = cell("device")
  l1[device] = cell("l1_per_cu_bytes") + 0
  l2[device] = cell("l2_bytes") + 0
  last[device] = cell("l3_bytes") + 0 > l2[device] ? cell("l3_bytes") + 0 : l2[device]
  units[device] = cell("compute_units")
  clock[device] = cell("clock_hz")
  next
}
file == 2 {
  device = cell("device")
  n = split(cell("text"), f, " ")
  if (cell("benchmark") == "gpu-latency" && f[1] ~ /^[0-9]+$/) {
    # steps, clock, set in kB, then milliseconds and clocks; older files have them in the same columns
    set[device, ++loads[device]] = f[3] * 1000
    cycles[device, loads[device]] = f[5] + 0
  }
  if (cell("benchmark") == "gpu-cache" && f[2] == "kB" && f[5] > 0) {
    rate_set[device, ++rates[device]] = f[1] * 1000
    rate[device, rates[device]] = f[5] + 0
  }
  next
}
{
  class = cell("class")
  if (class !~ /^gmem_load_(l1|l2|dram)$/ || cell("recommended") != "yes") next
  level = substr(class, 11)
  device = of_device(cell("src_latency"), "gpu-latency", cell("measured_on"))
  if (device != "" && cell("latency_cycles") != "" && device in l1)
    compare(cell("target") " " class " latency, " device, printed_latency(device, level), cell("latency_cycles") + 0,
            cell("latency_high_cycles") + 0)
  device = cell("src_gap") ~ /gpu-cache\// ? of_device(cell("src_gap"), "gpu-cache", "") : ""
  if (device != "" && level == "l1" && device in l1 && cell("gap_numerator_cycles") != "")
    compare(cell("target") " " class " gap as bytes per clock, " device, printed_rate(device),
            128 * cell("gap_denominator") / cell("gap_numerator_cycles"), 128 * cell("gap_denominator") / cell("gap_numerator_cycles"))
}
END {
  print compared + 0 " figures compared"
  exit wrong || compared == 0
}
