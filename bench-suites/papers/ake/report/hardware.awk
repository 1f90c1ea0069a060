# Rates from projected times beside published ones. Nothing is fitted.

BEGIN {
  print "workload,device,unit,published,akemu with caches,error,program order,without caches,error,perfcast,error"
  amount["reduction_sp_s4"] = 16777216 * 4   # bytes read
  amount["gemm_sp_s3"] = 2 * 2048 ^ 3        # operations of one product
}

FNR == 1 {
  mode = FILENAME
  sub(/\.csv$/, "", mode)
  sub(/.*\./, "", mode)
  workload = FILENAME
  sub(/.*\//, "", workload)
  sub(/\..*/, "", workload)
}

# Of two products (a and b as they are, b transposed) the first is what is published.
read_row() && "rate" in column {
  key = cell("workload") "," cell("device")
  order[++keys] = key
  published[key] = cell("rate")
  unit[key] = cell("unit")
  next
}
FNR > 1 && cell("kernel") != "gemm_nt" && cell("status") == "ok" {
  key = workload "," cell("device")
  time[key, mode] += cell("time_s")
  if (mode == "simulated") program[key] += cell("time_program_order_s")
}

function rate(key, t) {
  name = key
  sub(/,.*/, "", name)
  return t > 0 ? amount[name] / t / 1e9 : 0
}
function against(key, t, m,    r, e) {
  r = rate(key, t)
  e = published[key] / r - 1  # of the time
  errors[m] += e < 0 ? -e : e
  ++count[m]
  return sprintf("%.1f,%+.0f %%", r, 100 * e)
}

END {
  for (i = 1; i <= keys; ++i) {
    key = order[i]
    printf "%s,%s,%.1f,%s,%.1f,%s,%s\n", key, unit[key], published[key], against(key, time[key, "simulated"], "simulated"),
      rate(key, program[key]), against(key, time[key, "none"], "none"), against(key, time[key, "perfcast"], "perfcast")
  }
  printf "mean absolute error of the time,,,,,%.0f %%,,,%.0f %%,,%.0f %%\n", 100 * errors["simulated"] / count["simulated"],
    100 * errors["none"] / count["none"], 100 * errors["perfcast"] / count["perfcast"]
}
