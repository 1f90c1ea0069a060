# Measured and projected times in single precision side by side, one row per device, with what limits the projection: C
# compute, G global, L local memory.
#   awk -f ../../csv.awk -f compared.awk devices.csv
BEGIN {
  split("reduction stencil2d gemm", kernels, " ")
  print "device,reduction: measured / projected ms,ratio,stencil2d: measured / projected ms,ratio,gemm: measured / projected ms,ratio"
}
!read_row() { next }
cell("case") ~ /_sp_s4$/ {
  device = cell("device")
  if (!(device in seen)) devices[++count] = device
  seen[device] = 1
  kernel = cell("case")
  sub(/_.*/, "", kernel)
  text[device, kernel] = cell("measured_ms") " / " cell("projected_ms") " " (cell("limiter") == "shared" ? "L" : toupper(substr(cell("limiter"), 1, 1))) "," cell("ratio")
}
END {
  for (i = 1; i <= count; ++i) {
    line = devices[i]
    for (k = 1; k <= 3; ++k) line = line "," ((devices[i], kernels[k]) in text ? text[devices[i], kernels[k]] : "none published,")
    print line
  }
}
