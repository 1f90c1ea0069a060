# Are small kernels ranked by what launches cost? csv.awk host_launches.awk AIWC_DEVICES AIWC_FEATURES AIWC_TIMES
# Kernels of Extended OpenDwarfs on GPUs, as the host sees them. Predicted: a plain time of the work (instructions at a
# quarter of the peak rate, or the memory touched, four times, at 0.7 of the peak bandwidth), and what a launch costs: 5 us,
# or the device's shortest time among the programs of the other half (every second by name).
# Ranked against measured times; ties count by the mean.
!read_row() { next }
FILENAME ~ /devices/ {
  if (cell("class") != "gpu") next
  device[++devices] = cell("device")
  flops[devices] = cell("peak_fp32_gflops") * 1e9
  bytes[devices] = cell("peak_bw_gbs") * 1e9
  next
}
FILENAME ~ /features/ {
  k = cell("kernel") "," cell("size")
  instructions[k] = cell("total_instruction_count") + 0
  touched[k] = cell("total_memory_footprint") + 0
  next
}
{
  k = cell("kernel") "," cell("size")
  time[k, cell("device")] = cell("time_s") + 0
  program = k
  sub(/\..*/, "", program)
  if (!(program in known)) {
    known[program] = 1
    name[++programs] = program
  }
  if (!(k in of)) kernel[++kernels] = k
  of[k] = program
}
function larger(a, b) { return a > b ? a : b }
function predicted(how, k, d,    work) {
  if (how == "stated peak flops") return 1 / flops[d]
  if (how == "stated bandwidth") return 1 / bytes[d]
  if (how == "launch alone") return shortest[1 - half[of[k]], d]
  work = larger(instructions[k] / (flops[d] / 4), 4 * touched[k] / (0.7 * bytes[d]))
  return work + (how == "work + 5 us" ? 5e-6 : shortest[1 - half[of[k]], d])
}
function score(how,    i, j, d, k, best, least, n, picked, lost, hits, losses, taus, sign, pairs) {
  for (i = 1; i <= kernels; ++i) {
    k = kernel[i]
    best = least = ""
    for (d = 1; d <= devices; ++d) {
      p[d] = predicted(how, k, d)
      if (best == "" || time[k, device[d]] < best) best = time[k, device[d]]
      if (least == "" || p[d] < least) least = p[d]
    }
    n = picked = lost = sign = pairs = 0
    for (d = 1; d <= devices; ++d) {
      if (p[d] <= least * (1 + 1e-9)) {
        ++n
        picked += time[k, device[d]] <= best
        lost += time[k, device[d]] / best - 1
      }
      for (j = d + 1; j <= devices; ++j) {
        sign += ((p[d] > p[j]) - (p[d] < p[j])) * ((time[k, device[d]] > time[k, device[j]]) - (time[k, device[d]] < time[k, device[j]]))
        ++pairs
      }
    }
    hits += picked / n
    losses += lost / n
    taus += sign / pairs
  }
  printf "| %s | %.0f | %.0f | %.2f |\n", how, 100 * hits / kernels, 100 * losses / kernels, taus / kernels
}
END {
  for (i = 1; i <= programs; ++i) {
    above = 0
    for (j = 1; j <= programs; ++j) above += name[j] < name[i]
    half[name[i]] = above % 2
  }
  for (i = 1; i <= kernels; ++i)
    for (d = 1; d <= devices; ++d) {
      h = half[of[kernel[i]]]
      t = time[kernel[i], device[d]]
      if (!((h, d) in shortest) || t < shortest[h, d]) shortest[h, d] = t
    }
  print "| predicted by | fastest picked % | lost % | tau |\n|---|---|---|---|"
  score("stated peak flops")
  score("stated bandwidth")
  score("work + 5 us")
  score("work + the device's launch")
  score("launch alone")
  printf "\n%d kernels and sizes of %d programs, %d GPUs.\n", kernels, programs, devices
}
