# Partitions of SA and DA from what their kernels were counted to do, for perdome: operations and bytes of each part per
# element. Bytes are those that are accessed, or, in a row named …, distinct, the distinct ones, as of a cache that keeps all.
#   awk -f csv.awk -f partitions.awk groups.APP.csv … features.APP.csv … kernels.APP.csv …
read_row() {
  k = cell("kernel")
  if ("metric" in column) {
    if (cell("metric") == "flop_count_sp") flop[k] = cell("value")
    next
  }
  if ("global_footprint_bytes" in column) distinct[k] = cell("global_footprint_bytes")
  else accessed[k] = cell("global_bytes")
}
# What the CPU and the GPU run: names of kernels, joined by blanks; empty: nothing. whole: kernels of which both run a part.
function sum(kernels, of,    n, i, name, total) {
  n = split(kernels, name, " ")
  for (i = 1; i <= n; ++i) {
    if (!(name[i] in of)) { print "partitions.awk: kernel " name[i] " was not counted" > "/dev/stderr"; exit 3 }
    total += of[name[i]]
  }
  return total + 0
}
function row(app, name, cpu, gpu) {
  printf "%s,%s,accessed,,%.10g,%.10g,%.10g,%.10g\n", name, app, sum(cpu, flop), sum(cpu, accessed), sum(gpu, flop), sum(gpu, accessed)
  printf "%s,%s,distinct,,%.10g,%.10g,%.10g,%.10g\n", name, app, sum(cpu, flop), sum(cpu, distinct), sum(gpu, flop), sum(gpu, distinct)
}
function divided(app, kernels) {
  printf "p-DP,%s,accessed,%.12g,,,,\n", app, sum(kernels, flop) / sum(kernels, accessed)
  printf "p-DP,%s,distinct,%.12g,,,,\n", app, sum(kernels, flop) / sum(kernels, distinct)
}
END {
  print "partition,application,bytes,intensity,flops_cpu,bytes_cpu,flops_gpu,bytes_gpu"
  row("SA", "CPU-only", "pow_add vec_add", "")
  row("SA", "GPU-only", "", "pow_add vec_add")
  divided("SA", "pow_add vec_add")
  row("SA", "CP", "vec_add", "pow_add")
  row("DA", "CPU-only", "stiffness assemble", "")
  row("DA", "GPU-only", "", "stiffness assemble")
  divided("DA", "stiffness assemble")
  row("DA", "CP1", "assemble", "stiffness")
  row("DA", "CP2", "geometry assemble", "accumulate")
}
