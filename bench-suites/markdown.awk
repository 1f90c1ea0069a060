# A CSV file as a Markdown table, columns padded so that it also reads as plain text.

{
  rows = NR
  width = split_csv($0, cells)
  for (i = 1; i <= width; ++i) {
    text[NR, i] = cells[i]
    if (length(cells[i]) > widest[i]) widest[i] = length(cells[i])
  }
}

function dashes(n,    s) {
  while (n-- > 0) s = s "-"
  return s
}

END {
  for (row = 1; row <= rows; ++row) {
    for (i = 1; i <= width; ++i) printf "| %-" widest[i] "s ", text[row, i]
    print "|"
    if (row > 1) continue
    for (i = 1; i <= width; ++i) printf "|%s", dashes(widest[i] + 2)
    print "|"
  }
}
