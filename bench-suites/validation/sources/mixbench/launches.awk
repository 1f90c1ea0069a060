# Launches of mixbench's kernels: from measured/mixbench.csv to lines of
#   file|kernel|case|options and arguments of miniemu
# A buffer of 256 MiB has as many elements as it has doubles.
BEGIN {
  elements = 33554432
  type["fp32"] = "float"; type["fp64"] = "double"; type["fp16x2"] = "half2"; type["int32"] = "int"
  of["fp32"] = "f32"; of["fp64"] = "f64"; of["fp16x2"] = "f16"; of["int32"] = "i32"
  one["fp32"] = "f32:1"; one["fp64"] = "f64:1"; one["fp16x2"] = "hex:003c003c"; one["int32"] = "i32:1"
}
!read_row() || seen[cell("kernel"), cell("case")]++ { next }
{
  split(cell("kernel"), name, " ")
  split(cell("case"), words, /[ =]/)
  api = words[1]
  each = api == "cuda" ? 32 : 8  # elements of a work-item
  rest = "-k benchmark_func -l 256 --grid " elements / each / 256 " -D TYPE=" type[name[2]] " -D ITERATIONS=" words[3]
  rest = rest (api == "cuda" ? " -D ROLLED=" (name[2] == "int32" ? "true" : "false") : " --machine-code gfx90a")
  print api "|" cell("kernel") "|" cell("case") "|" rest " -a " one[name[2]] " -a buf:" of[name[2]] ":" \
        elements * (name[2] == "fp16x2" ? 2 : 1) ":zero"
}
