# Gives the kernel row that miniemu wrote the kernel and case of the measured one. -v first=1: its header row, too.
# -v kernels=FILE: the kernels of the rows, line by line, instead.
function quoted(text) {
  if (text !~ /[,"]/) return text
  gsub(/"/, "\"\"", text)
  return "\"" text "\""
}
FNR == 1 { if (first) print; next }
{
  n = split_csv($0, cells)
  if (kernels != "") getline kernel < kernels
  line = quoted(kernel) "," quoted(label)
  for (i = 3; i <= n; ++i) line = line "," quoted(cells[i])
  print line
}
