# What vendors' compilers make of kernels beside what is counted here, as a table: rows of compilers.cpp.
#   awk -f ../csv.awk -f compilers.awk compilers.csv
# Groups a unit: of 128, 256 and 512 work-items by registers alone, 65,536 a unit in steps of 256 a warp, four schedulers.
function min(a, b) { return a < b ? a : b }
function groups(registers, target, items,    warps, most) {
  warps = items / 32
  most = target == "sm_75" ? 32 : target ~ /sm_(86|120)/ ? 48 : 64
  registers = int((registers * 32 + 255) / 256) * 256
  return min(int(int(65536 / registers / 4) * 4 / warps), int(most / warps))
}
function largest(histogram,    i, n, entries, pair, out) {
  n = split(histogram, entries, ";")
  for (i = 1; i <= n; ++i) {
    split(entries[i], pair, ":")
    if (pair[2] + 0 > out) out = pair[2] + 0
  }
  return out + 0
}
function place(    file) { file = cell("file"); sub(/^\.\.\//, "bench-suites/", file); return file " " cell("kernel") }
!read_row() { next }
cell("reason") != "" { ++failed; next }
{
  ++kernels
  amd += cell("scratch_bytes") != ""
  if (cell("local_bytes") > 0 && cell("scratch_bytes") == "0") { ++without_scratch; if (largest(cell("stack")) > 0) ++both_stack }
  if (cell("registers") == "") next
  ++assembled
  local = cell("local_bytes") > 0; stack = largest(cell("stack")) > 0
  ++by[local, stack]
  if (local && !stack) found = found "\n- " place() ": " cell("local_bytes") " bytes in PTX, none of ptxas's"
  if (local && stack && cell("scratch_bytes") == "0") found = found "\n- " place() ": " cell("local_bytes") " bytes in PTX, ptxas " cell("stack") ", none of AMD's"
  n = split(cell("registers"), entries, ";")
  for (i = 1; i <= n; ++i) {
    split(entries[i], pair, ":")
    for (items = 128; items <= 512; items *= 2) {
      ++tries[pair[1]]
      equal[pair[1]] += groups(pair[2], pair[1], items) == groups(cell("live_registers") < 16 ? 16 : cell("live_registers"), pair[1], items)
    }
  }
}
END {
  print "| kernels | |\n|---|---|"
  print "| compiled | " kernels " |"
  print "| files that did not | " failed + 0 " |"
  print "| compiled by ptxas, too | " assembled + 0 " |"
  if (assembled) {
    print "| no local memory, and no stack of ptxas | " by[0, 0] + 0 " |"
    print "| local memory, and a stack of ptxas | " by[1, 1] + 0 " |"
    print "| local memory that ptxas keeps in registers (it does not count) | " by[1, 0] + 0 " |"
    print "| registers that ptxas spills | " by[0, 1] + 0 " |"
  }
  print "| compiled for gfx90a, too | " amd + 0 " |"
  print "| local memory, and no scratch of AMD's | " without_scratch + 0 " (a stack of ptxas: " both_stack + 0 ") |"
  if (assembled) {
    print "\n| live ranges: as many groups a unit as with ptxas's registers | % |\n|---|---|"
    for (i = split("sm_75 sm_80 sm_86 sm_90 sm_100 sm_103 sm_120", targets, " "); i > 0; --i) order[i] = targets[i]
    for (i = 1; i in order; ++i)
      if (tries[order[i]]) printf "| %s | %.1f |\n", order[i], 100 * equal[order[i]] / tries[order[i]]
  }
  if (found != "") print found
}
