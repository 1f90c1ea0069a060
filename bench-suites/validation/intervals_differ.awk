# Fails where two tables of intervals or ratios are not of the same files, or a figure differs by more than 2 %.
#   awk -f ../csv.awk -f intervals_differ.awk COMMITTED MADE
FNR == 1 { ++file }
!read_row() { next }
{
  kind = "relation" in column ? cell("relation") : cell("tested") "/" cell("architecture") "/" cell("limiter") "/" cell("regime")
  key = cell("model") "/" kind
  figures = "relation" in column ? cell("factor") : cell("low") " " cell("high")
}
file == 1 { hash[key] = cell("hash"); known[key] = figures; next }
{
  ++rows
  if (!(key in known)) { print key ": not there"; wrong = 1; next }
  if (hash[key] != cell("hash")) { print key ": made from " hash[key] ", the files are " cell("hash"); wrong = 1 }
  n = split(known[key], old, " ")
  split(figures, made, " ")
  for (i = 1; i <= n; ++i)
    if (made[i] / old[i] > 1.02 || old[i] / made[i] > 1.02) { print key ": " known[key] ", now " figures; wrong = 1 }
  delete known[key]
}
END {
  for (key in known) { print key ": not made any more"; wrong = 1 }
  if (!rows) print "no rows"
  exit wrong || !rows
}
