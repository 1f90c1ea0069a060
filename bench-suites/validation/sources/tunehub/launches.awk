# Launches of tunehub's kernels: from measured/SUITE.csv to lines of
#   file|kernel|case|options and arguments of miniemu
# -v delays=FILE: what dedispersion gets as its third argument; -v targets=LIST: whose machine code is counted
function up(a, b) { return int((a + b - 1) / b) }
# How much of the span of group g, so many wide, is below the limit.
function inside(limit, g, wide,    share) {
  share = (limit - g * wide) / wide
  return share < 0 ? 0 : share > 1 ? 1 : share
}
# Dedispersion's grid is that of one element per thread, however many it computes, so that most groups have no work. So many
# groups of it, spread evenly, that their share of the work is the whole grid's, to 0.2 % or as near as 1500 can be;
# 5 to 64 of them have work.
function sample(groups_x, groups_y, wide_x, wide_y,    total, share, n, i, g, work, off, best, least) {
  if ((groups_x, groups_y, wide_x, wide_y) in known) return known[groups_x, groups_y, wide_x, wide_y]
  total = groups_x * groups_y
  share = 25000 * 2048 / (wide_x * wide_y) / total
  for (g = 0; g < groups_x; ++g) share_x[g] = inside(25000, g, wide_x)
  for (g = 0; g < groups_y; ++g) share_y[g] = inside(2048, g, wide_y)
  least = ""
  for (n = 8; n <= 1500 && n <= total; ++n) {
    work = 0
    for (i = 0; i < n; ++i) {
      g = int(total * i / n)
      work += share_x[g % groups_x] * share_y[int(g / groups_x)]
    }
    if (work < 5 || work > 64) continue
    off = work / n / share - 1
    if (off < 0) off = -off
    if (least == "" || off < least) { least = off; best = n }
    if (off <= 0.002) break
  }
  return known[groups_x, groups_y, wide_x, wide_y] = best
}
BEGIN {
  names["convolution_milo"] = "block_size_x block_size_y tile_size_x tile_size_y read_only use_padding use_shmem use_cmem " \
                              "filter_height filter_width"
  names["dedispersion_milo"] = "block_size_x block_size_y block_size_z tile_size_x tile_size_y tile_stride_x " \
                               "tile_stride_y loop_unroll_factor_channel"
  names["convolution"] = "block_size_x block_size_y filter_height filter_width read_only tile_size_x tile_size_y use_padding"
  names["gemm"] = "MWG NWG KWG MDIMC NDIMC MDIMA NDIMB KWI VWM VWN STRM STRN SA SB PRECISION"
  registers["convolution"] = registers["gemm"] = " --registers sm_75,sm_86"  # of the GPUs that these were measured on
}
!read_row() || !(cell("program") in names) { next }
{
  program = cell("program")
  kernel = cell("kernel")
  n = split(names[program], name, " ")
  split(cell("case"), p, "-")
  options = targets != "" ? " --no-registers --machine-code " targets : registers[program]
  for (i = 1; i <= n; ++i) {
    options = options " -D " name[i] "=" p[i]
    value[name[i]] = p[i]
  }
}
program == "gemm" {
  square = " -a buf:f32:" 4096 * 4096 ":zero"
  print "gemm.cl|gemm|" cell("case") "|-k Xgemm -l " value["MDIMC"] "," value["NDIMC"] options " --grid " 4096 / value["MWG"] "," \
        4096 / value["NWG"] " -a i32:4096 -a i32:4096 -a i32:4096 -a f32:1 -a f32:1" square square square
  next
}
{
  options = "-k " kernel "_kernel -l " p[1] "," p[2] options
  if (kernel == "convolution")
    options = options " --grid " up(4096, p[1] * value["tile_size_x"]) "," up(4096, p[2] * value["tile_size_y"]) \
              " -a buf:f32:" 4096 * 4096 ":zero -a buf:f32:" 4110 * 4110 ":zero -a buf:f32:225:zero"
  else
    options = options " --grid " up(25000, p[1]) "," up(2048, p[2]) \
              " --groups " sample(up(25000, p[1]), up(2048, p[2]), p[1] * p[4], p[2] * p[5]) \
              " -a buf:u8:" 25650 * 1536 ":zero -a buf:f32:" 2048 * 25000 ":zero -a buf:f32:1536:file=" delays
  print program "|" kernel "|" cell("case") "|" options
}
