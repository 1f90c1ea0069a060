# Rows of flux-count (groups.csv, counts.csv) and of ncu --csv --page raw (rows.csv) for one run of an application each:
# status 1 where the single-precision arithmetic of a launch differs.

function theirs(metric,    text) {
  text = cell(metric)
  gsub(",", "", text)
  return text + 0
}

!read_row() { next }
FILENAME == "groups.csv" { ours[cell("launch"), cell("metric")] = cell("value") + 0 }
FILENAME == "counts.csv" {
  ptx[cell("launch")] += cell("executed")
  kernel[cell("launch")] = cell("kernel")
}
FILENAME == "rows.csv" && cell("ID") != "" {
  launch = launches++
  n = split("add mul fma", operations, " ")
  for (o = 1; o <= n; ++o) {
    counted = ours[launch, "flop_count_sp_" operations[o]]
    read = theirs("smsp__sass_thread_inst_executed_op_f" operations[o] "_pred_on.sum")
    if (counted == read) continue
    printf "%s, launch %d: %d of f%s, Nsight Compute %d\n", kernel[launch], launch, counted, operations[o], read
    bad = 1
  }
  printf "%s, launch %d: %d PTX instructions, %d of the machine\n", kernel[launch], launch, ptx[launch],
    theirs("smsp__thread_inst_executed_pred_on.sum")
}

END {
  printf "single-precision arithmetic of %d launches %s\n", launches, bad ? "differs" : "agrees"
  exit bad || launches == 0
}
