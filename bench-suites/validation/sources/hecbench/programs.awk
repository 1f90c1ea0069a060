# The programs of measured launches, a line each: program|arguments|budget|seconds|environment|reason
#   awk -f ../../../csv.awk -f programs.awk programs.csv measured/hecbench.csv
!read_row() { ++file; next }
file == 1 {
  settings[cell("program")] = cell("budget") "|" cell("seconds") "|" cell("environment") "|" cell("reason")
  next
}
!(cell("program") in seen) {
  seen[cell("program")] = 1
  n = split(cell("case"), words, " ")  # program, arguments, grid, block
  text = ""
  for (i = 2; i <= n - 2; ++i) text = text (i > 2 ? " " : "") words[i]
  print cell("program") "|" text "|" (cell("program") in settings ? settings[cell("program")] : "|||")
}
