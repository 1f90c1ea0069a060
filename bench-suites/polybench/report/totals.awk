# Projections of a workload's kernels and launch sizes added up: one row per workload and device, for `rank`. The
# limiter is the one that accounts for most of the time. A device that cannot run one of the kernels has no total.

BEGIN {
  print "kernel,case,device,model,time_s,time_low_s,time_high_s,limiter,status,reason"
}

read_row() {
  key = cell("case") "," cell("device") "," cell("model")
  if (!(key in status)) {
    order[++keys] = key
    status[key] = "ok"
  }
  if (cell("time_s") == "") {
    status[key] = cell("status")
    reason[key] = cell("kernel") ": " cell("reason")
    gsub(/"/, "\"\"", reason[key])
    next
  }
  time[key] += cell("time_s")
  low[key] += cell("time_low_s")
  high[key] += cell("time_high_s")
  part = by_limiter[key, cell("limiter")] += cell("time_s")
  if (part > largest[key]) {
    largest[key] = part
    limiter[key] = cell("limiter")
  }
}

END {
  for (i = 1; i <= keys; ++i) {
    key = order[i]
    name = key
    sub(/,.*/, "", name)
    if (status[key] == "ok")
      printf "%s,%s,%.17g,%.17g,%.17g,%s,ok,\n", name, key, time[key], low[key], high[key], limiter[key]
    else
      printf "%s,%s,,,,,%s,\"%s\"\n", name, key, status[key], reason[key]
  }
}
