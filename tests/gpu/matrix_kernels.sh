# The micro-benchmarks of NVIDIA's matrix units: NAME FLOP TARGET of each, TARGET being the first that has its instruction.
awk '
/^\[/ { name = substr($0, 2, length($0) - 2) }
/^file = "nvidia.cu"/ { mine[name] = 1 }
/^flop = / && name in mine {
  split($0, factors, /[][,]/)
  target = "sm_80"
  if (name ~ /^wgmma/) target = "sm_90a"
  if (name == "mma_f8_f32") target = "sm_89"
  if (name == "mma_f4_f32") target = "sm_120a"
  print name, factors[2] + 0, target
}' "$1/microbench/matrix/kernels.toml"
