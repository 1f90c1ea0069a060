# Constants as name|value|a fifth less|a fifth more|unit|source; those of an architecture as name@target.
!read_row() { next }
cell("value") > 0 {
  name = cell("name") (cell("target") == "" ? "" : "@" cell("target"))
  print name "|" cell("value") "|" 0.8 * cell("value") "|" 1.2 * cell("value") "|" cell("unit") "|" cell("source")
}
