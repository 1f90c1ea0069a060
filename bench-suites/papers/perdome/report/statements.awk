# Recomputes every statement of [perdome] about bounds from its Tables 1 and 2, and over all values that round to what
# the tables print: the corners of the times, three points of each intensity. perdome does all computing.
# Usage: awk -F, -v perdome=PROGRAM -f statements.awk table1.csv table2.csv statements.csv
FNR == 1 { ++file; next }
file == 1 { flop[$1] = $5; byte[$1] = $6; next }
file == 2 { whole[$2, $1] = $3; first[$2, $1] = $4; second[$2, $1] = $5; next }

function half_digit(text) {  # half a unit of the last digit printed
  return text ~ /\./ ? 0.5 / 10 ^ (length(text) - index(text, ".")) : 0.5
}
function near(text, step) { return text + step * half_digit(text) }

# The bounds of one set of times: p-DP of each intensity and the partition at each of 27 points. Sets value[] by name.
function compute(times,    rows, a, b, c, command, line, cells, key) {
  key = $1 SUBSEP $2
  rows = "partition,intensity,intensity_cpu,intensity_gpu\\n"
  for (a = -1; a <= 1; ++a) {
    rows = rows sprintf("d%d,%.6f,%.6f,%.6f\\n", a, near(whole[key], a), near(whole[key], a), near(whole[key], a))
    if (first[key] != whole[key])
      for (b = -1; b <= 1; ++b)
        for (c = -1; c <= 1; ++c)
          rows = rows sprintf("c%d%d%d,%.6f,%.6f,%.6f\\n", a, b, c, near(whole[key], a), near(first[key], b),
                              near(second[key], c))
  }
  command = sprintf("printf '%s' | %s --system %s %s", rows, perdome, $4, times)
  while ((command | getline line) > 0) {
    split(line, cells, ",")
    value[cells[1]] = cells[3]
  }
  close(command)
}
function statement(a, b, c) {
  if ($3 != "") return 100 * (value["c" a b c] / value["d" a] - 1)
  return value[first[$1, $2] == whole[$1, $2] ? "d" a : "c" a b c] / 1e9
}
BEGIN { print "application,partition,relative_to,system,stated,unit,recomputed,low,high,reproduces,remark" }
{
  split($4, device, "+")
  compute("")
  middle = statement(0, 0, 0)
  low = 1e300; high = -1e300
  for (corner = 0; corner < 16; ++corner) {
    times = ""
    for (k = 1; k <= 2; ++k) {
      f = near(flop[device[k]], int(corner / 4 ^ (k - 1)) % 2 ? 1 : -1)
      t = near(byte[device[k]], int(corner / (2 * 4 ^ (k - 1))) % 2 ? 1 : -1)
      times = times sprintf(" --flop-rate %s=%.9g --byte-rate %s=%.9g", device[k], 1e12 / f, device[k], 1e12 / t)
    }
    compute(times)
    for (a = -1; a <= 1; ++a) for (b = -1; b <= 1; ++b) for (c = -1; c <= 1; ++c) {
      v = statement(a, b, c)
      if (v < low) low = v
      if (v > high) high = v
    }
  }
  exact = middle >= $5 - 0.5 && middle <= $5 + 0.5
  open = high >= $5 - 0.5 && low <= $5 + 0.5
  truncated = int(middle) == $5
  says = exact ? "yes" : truncated ? "yes (truncated)" : open ? "only within rounding" : "no"
  printf "%s,%s,%s,%s,%s,%s,%.1f,%.1f,%.1f,%s,%s\n", $1, $2, $3, $4, $5, $6, middle, low, high, says, $7
}
