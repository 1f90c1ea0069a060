# The twelve features by the authors' definition (libcore/measure/flux/authors.cpp says which opcode is what) from counts that CUDA Flux
# made: rows kernel|case|metric|value, metrics being opcodes and sizes of the launch. The total has all widths.
BEGIN {
  FS = "|"
  OFS = ","
  print "kernel,case,threads_per_cta,ctas,inst_total,inst_special,inst_logic,inst_control,inst_arithmetic,inst_sync," \
        "global_bytes,param_bytes,shared_bytes_moved,arithmetic_intensity"
}
function bits(opcode) {
  if (opcode ~ /pred$/) return 32
  if (!match(opcode, /[0-9]+$/)) return 0
  return substr(opcode, RSTART) * (opcode ~ /\.v2\./ ? 2 : opcode ~ /\.v4\./ ? 4 : 1)
}
{
  key = $1 OFS $2
  if (!(key in seen)) { seen[key] = 1; order[++count] = key; threads[key] = groups[key] = 1 }
  op = $3
  if (op ~ /^b[XYZ]$/) { threads[key] *= $4; next }
  if (op ~ /^g[XYZ]$/) { groups[key] *= $4; next }
  if (op == "shm" || op == "time") next
  total[key] += $4
  if (op ~ /^(sqrt|rsqrt|sin|cos|lg2|ex2)\./) special[key] += $4
  else if (op ~ /^(and|or|xor|not|cnot|lop3|shf|shl|shr)/) logic[key] += $4
  else if (op ~ /^(bra|call|ret|exit)/) control[key] += $4
  else if (op ~ /^bar\.sync/) sync[key] += $4
  else if (op ~ /^(ld|st)\.param/) param[key] += $4 * bits(op) / 8
  else if (op ~ /^(ld|st)\.(volatile\.)?shared/) shared[key] += $4 * bits(op) / 8
  else if (op ~ /^(ld|st)\.global\.(v[24]\.)?[a-z]+[0-9]+$/) bytes[key] += $4 * bits(op) / 8
  else if (op ~ /^atom\.global.*32$/) bytes[key] += $4 * 4
  else if (op !~ /^(ld|st|atom|red)\./) arithmetic[key] += $4
}
END {
  for (i = 1; i <= count; ++i) {
    k = order[i]
    print k, threads[k], groups[k], total[k], special[k] + 0, logic[k] + 0, control[k] + 0, arithmetic[k] + 0, sync[k] + 0,
      bytes[k] + 0, param[k] + 0, shared[k] + 0, arithmetic[k] / (bytes[k] + param[k])
  }
}
