# Figure 3: what limits each kernel on each GPU (C compute, G global memory, L local memory) and the projected time,
# both absolute and over the C1060's. The three terms are given as shares of the time, so that near ties show.

BEGIN {
  print "workload,mode,device,limiter,time_ms,relative_to_c1060,compute_pct,global_pct,local_pct"
  letter["compute"] = "C"; letter["global"] = "G"; letter["shared"] = "L"
}

function share(term_s, time_s) { return time_s > 0 ? sprintf("%.0f", 100 * term_s / time_s) : "" }

read_row() {
  key = cell("case") SUBSEP mode
  if (!(key in seen)) { seen[key] = 1; order[++keys] = key }
  device = cell("device")
  if (!(device in known)) { known[device] = 1; devices[++device_count] = device }
  time[key, device] = cell("time_s")
  limiter[key, device] = cell("limiter") in letter ? letter[cell("limiter")] : cell("limiter")
  if (cell("status") != "ok") limiter[key, device] = cell("status")
  terms[key, device] = share(cell("t_compute_s"), cell("time_s")) "," share(cell("t_global_s"), cell("time_s")) "," \
                       share(cell("t_shared_s"), cell("time_s"))
}

END {
  for (k = 1; k <= keys; ++k) {
    split(order[k], part, SUBSEP)
    for (d = 1; d <= device_count; ++d) {
      device = devices[d]
      t = time[order[k], device]
      base = time[order[k], "c1060"]
      printf "%s,%s,%s,%s,%s,%s,%s\n", part[1], part[2], device, limiter[order[k], device],
        t == "" ? "" : sprintf("%.4g", 1000 * t), t == "" || base == "" ? "" : sprintf("%.3f", t / base),
        terms[order[k], device]
    }
  }
}
