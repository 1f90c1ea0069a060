# The metrics of our FFT beside nvprof's and CUDA Flux's of the paper's: same work-items, another kernel and compiler. All
# metrics of the table, by nvprof's definition and as CUDA Flux groups, each over the figure of its definition.
function over(ours, theirs) { return theirs + 0 && ours != "" ? sprintf("%.2f", ours / theirs) : "" }
BEGIN { OFS = ","; print "metric", "nvprof (paper)", "ours by nvprof's definition", "over nvprof", "CUDA Flux (paper)", "ours as CUDA Flux groups", "over CUDA Flux" }
FILENAME ~ /paper/ {
  if (!read_row()) next
  metrics[++n] = cell("metric")
  nvprof[n] = cell("nvprof")
  flux[n] = cell("cuda_flux")
  next
}
{
  if (!read_row()) next
  value[cell("metric")] = cell("value")
  braun[cell("metric")] = cell("value_braun") != "" ? cell("value_braun") : cell("value")
}
END {
  for (i = 1; i <= n; ++i) {
    m = metrics[i]
    print m, nvprof[i], value[m], over(value[m], nvprof[i]), flux[i], braun[m], over(braun[m], flux[i])
  }
}
