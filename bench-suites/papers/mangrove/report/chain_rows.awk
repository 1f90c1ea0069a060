# Rows of several files for the chain, a row per kernel and workload, of one launch: where a workload launches a kernel in
# several configurations, the mean over its launches. kind=features: the features, with the suite that the file's name
# begins with; kind=projections: projected times (those of all launches in the files), after the features, which have the
# numbers of launches.
#   awk -v kind=K -f csv.awk -f chain_rows.awk FEATURES… [PROJECTIONS…]
BEGIN {
  features = split("threads_per_cta,ctas,inst_total,inst_special,inst_logic,inst_control,inst_arithmetic,inst_sync," \
                   "global_bytes,param_bytes,shared_bytes_moved,arithmetic_intensity", feature, ",")
}
function suite_of(name) {
  sub(/.*\//, "", name)
  sub(/\..*/, "", name)
  return name
}
read_row() {
  kernel = cell("kernel") "," cell("case")
  if ("threads_per_cta" in column) {
    if (!(kernel in launches)) kernels[++count] = kernel "," suite_of(FILENAME)
    launches[kernel] += cell("launches")
    for (i = 1; i <= features; ++i) {
      sum[kernel, i] += cell("launches") * cell(feature[i])
      if (cell(feature[i]) == "") unknown[kernel, i] = 1
    }
    next
  }
  if (!(kernel in launches)) {
    print FILENAME ": kernel and case " kernel " have no features" > "/dev/stderr"
    failed = 1
    exit 3
  }
  projection = kernel "," cell("device") "," cell("model")
  if (!(projection in time)) projections[++projected] = projection
  time[projection] += cell("time_s") / launches[kernel]
  if (cell("time_s") == "") none[projection] = 1
}
END {
  if (failed) exit 3
  if (kind == "projections") {
    print "kernel,case,device,model,time_s,time_low_s,time_high_s,limiter,status,reason"
    for (p = 1; p <= projected; ++p)
      if (!(projections[p] in none)) printf "%s,%.9g,,,,ok,\n", projections[p], time[projections[p]]
    exit
  }
  printf "kernel,case,suite"
  for (i = 1; i <= features; ++i) printf ",%s", feature[i]
  print ""
  for (k = 1; k <= count; ++k) {
    printf "%s", kernels[k]
    kernel = kernels[k]
    sub(/,[^,]*$/, "", kernel)
    for (i = 1; i <= features; ++i)
      if ((kernel, i) in unknown) printf ","
      else printf ",%.9g", sum[kernel, i] / launches[kernel]
    print ""
  }
}
