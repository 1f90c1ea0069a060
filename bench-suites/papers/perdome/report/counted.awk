# Intensities and bounds of our SA and DA beside Table 2's, i7 + GTX 750, a row per application, partition and kind of bytes.
#   awk -f csv.awk -f counted.awk paper/table2.csv bounds.csv bounds.counted.csv
function fixed(x) { return x == "" ? "" : sprintf("%.3g", x) }
BEGIN { print "application,partition,bytes,I,I_C,I_G,paper I,I_C,I_G,bound GFLOPS,paper's tables give" }
read_row() {
  if ("intensity_gpu" in column && !("system" in column)) {
    key = cell("application") SUBSEP cell("partition")
    whole[key] = cell("intensity"); cpu[key] = cell("intensity_cpu"); gpu[key] = cell("intensity_gpu")
    next
  }
  if (cell("system") != "i7-2600k+gtx750") next
  key = cell("application") SUBSEP cell("partition")
  if (!("bytes" in column)) { bound[key] = cell("bound_flop_per_s"); next }
  printf "%s,%s,%s,%s,%s,%s,%s,%s,%s,%.4g,%.4g\n", cell("application"), cell("partition"), cell("bytes"), fixed(cell("intensity")),
    fixed(cell("intensity_cpu")), fixed(cell("intensity_gpu")), whole[key], cpu[key], gpu[key], cell("bound_flop_per_s") / 1e9, bound[key] / 1e9
}
