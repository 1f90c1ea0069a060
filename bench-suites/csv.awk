# Shared by the reports: fields of a CSV line by the names of its header row. Quoted cells hold no line breaks here.
#
#   read_row()      splits $0; on the first line of a file it learns the header and returns 0, else returns 1
#   cell("name")    the cell of that column in the row last read

function split_csv(line, cells,    n, cell) {
  n = 0
  while (1) {
    if (substr(line, 1, 1) == "\"") {
      match(line, /^"([^"]|"")*"/)
      cell = substr(line, 2, RLENGTH - 2)
      gsub(/""/, "\"", cell)
    } else {
      match(line, /^[^,]*/)
      cell = substr(line, 1, RLENGTH)
    }
    cells[++n] = cell
    if (RLENGTH >= length(line)) return n
    line = substr(line, RLENGTH + 2)
  }
}

function read_row(    i) {
  sub(/\r$/, "")
  if (FNR == 1) {
    split("", column)
    columns = split_csv($0, names)
    for (i = 1; i <= columns; ++i) column[names[i]] = i
    return 0
  }
  split_csv($0, cells)
  return 1
}

function cell(name) {
  if (!(name in column)) {
    print FILENAME ": no column '" name "'" > "/dev/stderr"
    exit 3
  }
  return cells[column[name]]
}
