# The rows of a seed's CSV for page.sh, fields separated by the character 037.
BEGIN { fields = split("item says paper unit within command here verdict why", field, " ") }
read_row() {
  line = cell(field[1])
  for (f = 2; f <= fields; ++f) line = line "\037" cell(field[f])
  print line
}
