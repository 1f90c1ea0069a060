# The header and the rows of some devices, as they are. -v devices=a,b

BEGIN {
  n = split(devices, list, ",")
  for (i = 1; i <= n; ++i) wanted[list[i]] = 1
}
{
  line = $0
  if (!read_row()) {
    print line
    next
  }
  if (cell("device") in wanted) print line
}
