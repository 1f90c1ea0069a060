# Time per workload and device: akemu with simulated caches (list-scheduled and in program order), without caches, and
# perfcast's; kernels and launches of a workload added up. A device that cannot run one of them has no row.

BEGIN {
  print "workload,device,with caches,in program order,without caches,perfcast,with / perfcast,limiter"
}

FNR == 1 {
  mode = FILENAME
  sub(/\.csv$/, "", mode)
  sub(/.*\./, "", mode)
  workload = FILENAME
  sub(/.*\//, "", workload)
  sub(/\..*/, "", workload)
}

read_row() {
  key = workload "," cell("device")
  if (!(key in seen)) {
    seen[key] = 1
    order[++keys] = key
  }
  if (cell("status") != "ok") {
    bad[key] = 1
    next
  }
  time[key, mode] += cell("time_s")
  if (mode != "simulated") next
  program[key] += cell("time_program_order_s")
  part = by_limiter[key, cell("limiter")] += cell("time_s")
  if (part > largest[key]) {
    largest[key] = part
    limiter[key] = cell("limiter")
  }
}

function scaled(s) {
  if (s == 0) return ""
  if (s < 1e-3) return sprintf("%.3g us", s * 1e6)
  return sprintf("%.3g ms", s * 1e3)
}

END {
  for (i = 1; i <= keys; ++i) {
    key = order[i]
    if (key in bad || time[key, "perfcast"] == 0) continue
    ratio = time[key, "simulated"] / time[key, "perfcast"]
    sum += log(ratio) < 0 ? -log(ratio) : log(ratio)
    reorder += program[key] / time[key, "simulated"]
    caches += time[key, "none"] / time[key, "simulated"]
    ++n
    printf "%s,%s,%s,%s,%s,%.2f,%s\n", key, scaled(time[key, "simulated"]), scaled(program[key]),
      scaled(time[key, "none"]), scaled(time[key, "perfcast"]), ratio, limiter[key]
  }
  printf "mean of %d,,,x %.2f,x %.2f,,factor %.2f,\n", n, reorder / n, caches / n, exp(sum / n)
}
