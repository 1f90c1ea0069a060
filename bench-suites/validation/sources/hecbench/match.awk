# Of the rows of an application those of measured launches, with their kernel and case, for one launch each.
#   awk -f ../../../csv.awk -f match.awk -v program=adam -v missing=FILE -v reason=TEXT -v first=1 NAMES MEASURED ROWS
# NAMES: the demangled names of the rows' kernels, line by line; MEASURED: measured/hecbench.csv; first=1: the header row, too.
# A row is of a measured launch with its name, template arguments, grid and block, or with its name, grid and block where
# these are of one kernel on both sides. Launches without a row are added to FILE.
function quoted(text) {
  if (text !~ /[,"]/) return text
  gsub(/"/, "\"\"", text)
  return "\"" text "\""
}
# "void n::k<(int)256, true>(int)": name is k, arguments <256,1>.
function read_name(text,    i, c, depth) {
  gsub(/\(anonymous namespace\)::|<unnamed>::/, "", text)
  name = arguments = ""
  if (match(text, /^_ZL?[0-9]+/)) {  # c++filt cannot read it
    i = substr(text, 1, RLENGTH)
    gsub(/[^0-9]/, "", i)
    name = substr(text, RLENGTH + 1, i)
    return
  }
  depth = 0
  for (i = 1; i <= length(text); ++i) {
    c = substr(text, i, 1)
    if (c == "<") ++depth
    if (c == "(" && depth == 0) break
    if (depth > 0) arguments = arguments c
    else name = name c
    if (c == ">") --depth
  }
  sub(/.* /, "", name)
  sub(/.*::/, "", name)
  gsub(/\((unsigned )?[A-Za-z_][A-Za-z_:]*\)/, "", arguments)
  gsub(/true/, "1", arguments)
  gsub(/false/, "0", arguments)
  gsub(/ /, "", arguments)
  while (match(arguments, /[0-9][ul]+/))
    arguments = substr(arguments, 1, RSTART) substr(arguments, RSTART + RLENGTH)
}
FNR == 1 { ++file }
file == 1 { names_of[FNR] = $0; next }
!read_row() {
  if (file == 3 && first) print
  next
}
file == 2 {
  if (cell("program") != program) next
  n = split(cell("case"), words, " ")
  read_name(cell("kernel"))
  ++wanted
  kernel[wanted] = cell("kernel")
  label[wanted] = cell("case")
  loose[wanted] = name SUBSEP words[n - 1] SUBSEP words[n]
  strict[wanted] = loose[wanted] SUBSEP arguments
  ++count[loose[wanted]]
  next
}
{
  read_name(names_of[FNR])
  key = name SUBSEP cell("grid_x") "x" cell("grid_y") "x" cell("grid_z") SUBSEP \
        cell("block_x") "x" cell("block_y") "x" cell("block_z")
  if (!((key, arguments) in row)) row[key, arguments] = $0
  if (!(key in row)) row[key] = $0
  if (!((key, "of", names_of[FNR]) in known)) { known[key, "of", names_of[FNR]] = 1; ++kernels[key] }
}
# A histogram of a launch, of one over so many.
function mean(histogram, launches,    i, n, entries, pair, text) {
  n = split(histogram, entries, ";")
  for (i = 1; i <= n; ++i) {
    split(entries[i], pair, ":")
    text = text (i > 1 ? ";" : "") pair[1] ":" sprintf("%.15g", pair[2] / launches)
  }
  return text
}
# Totals over all launches of an application that has ended become those of one.
function one_launch(line, its_kernel, its_case,    i, n, launches, text) {
  n = split_csv(line, cells)
  launches = cells[column["launches"]]
  text = quoted(its_kernel) "," quoted(its_case) ",1"
  for (i = 4; i <= n; ++i)
    if (names[i] == "touched_before" || names[i] == "matrix_flop") text = text "," mean(cells[i], launches)
    else text = text "," (launches == 1 || cells[i] == "" || names[i] ~ stays ? cells[i] : sprintf("%.15g", cells[i] / launches))
  return text
}
END {
  stays = "^(grid|block)_[xyz]$|^groups_emulated$|^shared_bytes$|^registers|^v?gprs_|^vliw_|^spread_pct$|^sampling_error_pct$|" \
          "^global_footprint_bytes$|^atomic_max_same_address$|^code_slots$|^group_|^target$|^allocated_bytes$|^warp_lanes$|^scratch_bytes$|^library$|^runs_on$|^code_fetched$"
  for (i = 1; i <= wanted; ++i) {
    if (strict[i] in row) print one_launch(row[strict[i]], kernel[i], label[i])
    else if (count[loose[i]] == 1 && kernels[loose[i]] == 1) print one_launch(row[loose[i]], kernel[i], label[i])
    else print "hecbench," quoted(kernel[i]) "," quoted(label[i]) "," reason >> missing
  }
}
