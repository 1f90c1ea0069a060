# The model's side of Figures 9 and 11: GFLOP/s of the best parallel implementation that it projects, on all five devices.
# The paper's bars of measured OpenMP and CUDA times are printed without numbers.
#   awk -f csv.awk -f performance.awk PROFILE… cost5.csv
{
  if (!read_row()) next
  k = cell("kernel")
  if ("quantity" in column) {
    if (cell("quantity") == "flop") flop[k] = cell("count") + 0
    next
  }
  if (!(k in seen)) { seen[k] = 1; order[++count] = k }
  rate[k, cell("device")] = flop[k] / cell("time_s") / 1e9
}
END {
  devices = split("i5-2400 i7-4700 c2075 k20 k20x", device, " ")
  printf "workload"
  for (d = 1; d <= devices; ++d) printf ",%s", device[d]
  print ""
  for (i = 1; i <= count; ++i) {
    printf "%s", order[i]
    for (d = 1; d <= devices; ++d) printf ",%.3g", rate[order[i], device[d]]
    print ""
  }
}
