# Figure 12: MiniGhost's grid divided over ARC1 (i5-2400) and ARC5 (k20x), a row per size: the model's time of the whole grid
# on each, of halves on both, and of the parts that the model chooses, each part with that share of the whole's time.
#   awk -f csv.awk -f figure12.awk COST…
{
  if (!read_row()) next
  n = cell("case") + 0
  if (!(n in seen)) { seen[n] = 1; order[++count] = n }
  time[n, cell("device")] = cell("time_s") + 0
}
END {
  print "size,i5-2400_ms,k20x_ms,even_ms,model_ms,share of i5-2400,even over model"
  for (i = 1; i <= count; ++i) {
    n = order[i]
    cpu = time[n, "i5-2400"]; gpu = time[n, "k20x"]
    even = (cpu > gpu ? cpu : gpu) / 2
    model = 1 / (1 / cpu + 1 / gpu)
    printf "%d^3,%.4g,%.4g,%.4g,%.4g,%.3f,%.2f\n", n, 1e3 * cpu, 1e3 * gpu, 1e3 * even, 1e3 * model, gpu / (cpu + gpu), even / model
    sum += even / model
  }
  printf "mean,,,,,,%.2f\n", sum / count
}
