# What launches cost where a suite was measured, as perfcast --launch-cost takes it: the suite's own figure, and of devices
# that launches.csv has, theirs. -v others=1: of each of these what the others of the suite have.
#   awk -F, -v suite=NAME [-v others=1] -f launch.awk suites.csv launches.csv
function median_without(device, i, n, values, j, t) {
  for (i in cost)
    if (i != device) values[++n] = cost[i]
  for (i = 2; i <= n; ++i)
    for (j = i; j > 1 && values[j - 1] + 0 > values[j] + 0; --j) { t = values[j]; values[j] = values[j - 1]; values[j - 1] = t }
  return n ? (values[int((n + 1) / 2)] + values[int(n / 2) + 1]) / 2 : cost[device]
}
FILENAME ~ /suites\.csv$/ { if ($1 == suite) all = $3; next }
$1 == suite { cost[$2] = $3 }
END {
  printf "%s", all
  for (device in cost) printf ",%s=%s", device, others ? median_without(device) : cost[device]
  print ""
}
