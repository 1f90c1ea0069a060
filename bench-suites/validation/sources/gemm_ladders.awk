# Launches of the ladders of matrix products: from measured/gemm_ladders.csv to lines of
#   file|kernel|case|options and arguments of miniemu
# as the four repositories launch them, which are checkouts below SOURCES (-v sources=DIR).
function rung(label, its_function, tile_x, tile_y, its_local) {
  function_of[label] = its_function; x[label] = tile_x; y[label] = tile_y; local[label] = its_local
}
function buffer(content) { return " -a buf:f32:" n * n ":" content }
function grid() { return "-k " function_of[kernel] " --grid " int((n + x[kernel] - 1) / x[kernel]) "," int((n + y[kernel] - 1) / y[kernel]) " -l " local[kernel] }
BEGIN {
  rung("naive", "gemm_naive_kernel", 16, 16, "16,16")
  rung("tiled16", "gemm_tiled_kernel", 16, 16, "16,16")
  rung("microtile2x2", "gemm_microtile_2x2_kernel", 32, 32, "16,16")
  rung("microtile4x1", "gemm_microtile_4x1_kernel", 16, 64, "16,16")
  rung("1_naive", "sgemm_naive", 32, 32, "32,32")
  rung("2_global_mem_coalesce", "sgemm_global_mem_coalesce", 32, 32, 1024)
  rung("3_shared_mem_blocking", "sgemm_shared_mem_block", 32, 32, 1024)
  rung("4_1D_blocktiling", "sgemm1DBlocktiling", 64, 64, 512)
  rung("5_2D_blocktiling", "sgemm2DBlocktiling", 128, 128, 256)
  rung("6_vectorize", "sgemmVectorize", 128, 128, 256)
  rung("7_resolve_bank_conflicts", "sgemmResolveBankConflicts", 128, 128, 256)
  rung("8_bank_extra_col", "sgemmResolveBankExtraCol", 128, 128, 256)
  rung("9_autotuned", "sgemmAutotuned", 128, 128, 256)
  rung("10_warptiling", "sgemmWarptiling", 128, 128, 128)
  rung("11_double_buffering", "sgemmDoubleBuffering", 256, 128, 256)
  rung("mysgemm_v1", "mysgemm_v1", 32, 32, "32,32")
  rung("mysgemm_v2", "mysgemm_v2", 32, 32, 1024)
  rung("mysgemm_v3", "mysgemm_v3", 64, 64, 512)
  for (i = 4; i <= 7; ++i) rung("mysgemm_v" i, "mysgemm_v" i, 128, 128, 256)
}
!read_row() || seen[cell("kernel"), cell("case")]++ { next }
{
  kernel = cell("kernel")
  n = cell("case") + 0
  rest = "no source: a kernel of cuBLAS"
  file = ""
  if (cell("program") ~ /gpu-perf-model/) {
    file = "gpu-perf-model"
    rest = "-I " sources "/gpu-perf-model/include " grid() buffer("random") buffer("random") buffer("zero") \
           " -a u64:" n " -a u64:" n " -a u64:" n
  } else if (kernel in function_of) {
    file = kernel ~ /^mysgemm/ ? "NVIDIA_SGEMM_PRACTICE" : "SGEMM_CUDA"
    rest = grid() " -a i32:" n " -a i32:" n " -a i32:" n " -a f32:0.5" buffer("random") buffer("random") " -a f32:3" buffer("random")
  } else if (kernel == "matmul") {
    file = "h100:fast_matmul"
    rest = n
  } else if (kernel == "sum") {
    file = "fast"
    rest = "-k sumKernel3 --compiler-option=-std=c++17 --grid 16384 -l 1024 -a buf:i32:" n ":zero -a buf:i32:1:zero -a i32:" n / 4
  }
  print file "|" kernel "|" cell("case") "|" rest
}
