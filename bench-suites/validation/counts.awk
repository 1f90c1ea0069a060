# What miniemu counted beside what ncu counted of the same launch: median error and geometric mean of the ratios.
#   awk -f ../csv.awk -f counts.awk counts/SUITE.csv kernels/SUITE.csv STATIONS
# DRAM traffic is what the default model moves (perfcast --explain); operations are beside instructions, of which each
# fused multiply-add is two operations; integer instructions are beside the slots of their pipes, of lanes that are active.
FNR == 1 { ++file }
!read_row() { next }
{ key = cell("kernel") SUBSEP cell("case") }
file == 1 {
  ncu["DRAM bytes", key] = cell("dram_bytes")
  ncu["fp32 operations", key] = cell("fp32_flop")
  ncu["fp64 operations", key] = cell("fp64_flop")
  ncu["integer instructions", key] = cell("int_op")
  next
}
file == 3 { add("DRAM bytes", cell("dram_bytes"), 1); next }
{
  launches = cell("launches")
  issues = 0
  for (name in column) if (name ~ /^issues_.*_w32$/) issues += cell(name)
  add("fp32 operations", cell("inst_fp32") / launches, 2)
  add("fp64 operations", cell("inst_fp64") / launches, 2)
  if (issues > 0)
    add("integer instructions", (cell("slots_imad") + cell("slots_alu")) * cell("inst_total") / issues / launches, 1)
}
# `most`: an instruction is from one to so many of what ncu counts.
function add(what, ours, most,    theirs, low, ratio) {
  theirs = ncu[what, key]
  if (theirs + 0 <= 0) return
  if (ours <= 0) { ++none[what]; return }
  ratio = theirs >= ours && theirs <= most * ours ? 1 : theirs > ours ? most * ours / theirs : ours / theirs
  errors[what, ++n[what]] = ratio > 1 ? ratio - 1 : 1 - ratio
  logarithms[what] += log(ratio)
}
function median_error(what,    i, j, m, t) {
  m = n[what]
  for (i = 2; i <= m; ++i) {
    t = errors[what, i]
    for (j = i - 1; j >= 1 && errors[what, j] > t; --j) errors[what, j + 1] = errors[what, j]
    errors[what, j + 1] = t
  }
  return m % 2 ? errors[what, (m + 1) / 2] : (errors[what, m / 2] + errors[what, m / 2 + 1]) / 2
}
END {
  print "| counted | launches | median error, % | bias, % | ours is none |"
  print "|---|---|---|---|---|"
  split("DRAM bytes|fp32 operations|fp64 operations|integer instructions", all, "|")
  for (i = 1; i <= 4; ++i)
    if (n[all[i]]) printf "| %s | %d | %.1f | %.1f | %d |\n", all[i], n[all[i]], 100 * median_error(all[i]),
                          100 * (exp(logarithms[all[i]] / n[all[i]]) - 1), none[all[i]]
}
