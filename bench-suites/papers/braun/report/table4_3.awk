# The metrics of our FFT beside nvprof's and CUDA Flux's of the paper's: same work-items, another kernel and compiler.
# Metrics that are 0 for all are left out.
BEGIN { OFS = ","; print "metric", "nvprof (paper)", "CUDA Flux (paper)", "ours by nvprof's definition", "ours as CUDA Flux groups", "ours over CUDA Flux" }
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
    if (!(nvprof[i] + flux[i] + value[metrics[i]] + braun[metrics[i]])) continue
    ratio = flux[i] + 0 && braun[metrics[i]] != "" ? sprintf("%.2f", braun[metrics[i]] / flux[i]) : ""
    print metrics[i], nvprof[i], flux[i], value[metrics[i]], braun[metrics[i]], ratio
  }
}
