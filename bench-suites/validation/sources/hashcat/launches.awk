# Launches of hashcat's kernels: from measured/hashcat.csv to lines of mode, kernel, vector, loops, threads, groups.
!read_row() { next }
{
  split(cell("case"), n, /[x ]/)
  print n[1], cell("kernel"), n[5], n[4], n[3], n[2]
}
