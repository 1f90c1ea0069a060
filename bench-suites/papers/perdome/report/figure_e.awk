# Bounds in GFLOPS, a row per application and partition, a column per system.
#   awk -f csv.awk -f figure_e.awk bounds.csv
read_row() {
  key = cell("application") "," cell("partition")
  system_name = cell("system")
  if (!(key in seen)) { seen[key] = 1; order[++rows] = key }
  if (!(system_name in known)) { known[system_name] = 1; systems[++width] = system_name }
  bound[key, system_name] = cell("bound_flop_per_s") / 1e9
}
END {
  printf "application,partition"
  for (s = 1; s <= width; ++s) printf ",%s", systems[s]
  print ""
  for (wanted = 1; wanted <= 2; ++wanted)
    for (r = 1; r <= rows; ++r) {
      if (order[r] !~ (wanted == 1 ? "^SA" : "^DA")) continue
      printf "%s", order[r]
      for (s = 1; s <= width; ++s) printf ",%.4g", bound[order[r], systems[s]]
      print ""
    }
}
