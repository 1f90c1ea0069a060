# The rows of one of hashcat's kernels for the grids that were measured, from rows of a small grid.
#   awk -f ../../../csv.awk -f grid.awk -v mode=N -v kernel=NAME -v vector=N [-v first=1 -v missing=FILE -v reason=TEXT] LAUNCHES ROWS
#
# LAUNCHES: lines of mode, kernel, vector, loops, threads, groups. ROWS: of each loops and threads one, in columns of these names,
# which are left out. -v first=1: with the header row. MISSING gets what has no row.
#
# Each work-item tries its own candidates on the one hash that is searched for, and none is found: work-groups do the same
# on other data, read what is theirs and what all of them read, and write nothing. So totals are those of a group times the
# groups, and what groups touch together grows by what is one group's own. How much memory hashcat has allocated is
# not known of the other grids.
function quoted(text) {
  if (text !~ /[,"]/) return text
  gsub(/"/, "\"\"", text)
  return "\"" text "\""
}
function number(value,    text) {
  text = sprintf("%.0f", value)
  return text == value ? text : sprintf("%.15g", value)
}
# k:n, sectors of 2^k groups, the last of all.
function unions(text, groups,    n, items, one, two, own, k, out) {
  if (text == "") return ""
  n = split(text, items, ";")
  one = items[1]; sub(/.*:/, "", one)
  two = items[2]; sub(/.*:/, "", two)
  own = two - one
  if (items[n] != (n - 1) ":" one + own * (cell("grid_x") - 1)) {
    print kernel ": groups share otherwise than all the same: " text > "/dev/stderr"
    exit 3
  }
  for (k = 0; 2 ^ k < groups; ++k) out = out k ":" number(one + own * (2 ^ k - 1)) ";"
  own_sectors += own
  return out k ":" number(one + own * (groups - 1))
}
function is_total(name) {
  if (name == "shared_bytes" || name == "global_footprint_bytes") return 0
  return name ~ /^(inst|issues|slots|global|shared|local|atomics)_|^(param|const|texture)_bytes$|^(divergent_)?branches|^barriers$/
}
function row(groups,    factor, i, name, value, line) {
  factor = groups / cell("grid_x")
  own_sectors = 0
  new_loads = unions(cell("group_load_unions"), groups)
  new_stores = unions(cell("group_store_unions"), groups)
  new_atomics = unions(cell("group_atomic_unions"), groups)
  for (i = 1; i <= columns; ++i) {
    name = names[i]
    if (name == "loops" || name == "threads" || name == "groups") continue
    value = cells[i]
    if (name == "case") value = mode " " groups "x" cell("threads") " " cell("loops") "x" vector
    else if (name == "grid_x" || name == "groups_total") value = groups
    else if (name == "allocated_bytes") value = ""
    else if (name == "group_load_unions") value = new_loads
    else if (name == "group_store_unions") value = new_stores
    else if (name == "group_atomic_unions") value = new_atomics
    else if (name == "global_footprint_bytes")
      value = number(new_loads == "" ? value * factor : value + 32 * own_sectors * (groups - cell("grid_x")))
    else if (is_total(name) && value != "" && value != 0) value = number(value * factor)
    line = line (i > 1 ? "," : "") quoted(value)
  }
  return line
}
FILENAME ~ /launches$/ {
  if ($1 == mode && $3 == vector) grids[$4, $5] = grids[$4, $5] " " $6
  next
}
!read_row() {
  if (first) {
    line = $0
    sub(/,loops,threads,groups$/, "", line)
    print line
  }
  next
}
{
  n = split(grids[cell("loops"), cell("threads")], sizes, " ")
  for (g = 1; g <= n; ++g) print row(sizes[g])
  delete grids[cell("loops"), cell("threads")]
}
END {
  for (key in grids) {
    split(key, p, SUBSEP)
    n = split(grids[key], sizes, " ")
    for (g = 1; g <= n; ++g)
      printf "hashcat,%s,%s %sx%s %sx%s,\"%s\"\n", kernel, mode, sizes[g], p[2], p[1], vector, reason >> missing
  }
}
