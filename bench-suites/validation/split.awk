# Writes the split once: which programs constants may be chosen on, and which are held out. By the first byte of the
# SHA-256 of suite/program: a quarter of HeCBench's programs, of pmpp's kernels and of h100's (below 64), one of tunehub's two kernels
# (below 128), of qv100_cycles all but the micro-benchmarks; the others are for choosing. fluidx3d came later, on devices that nothing had
# been chosen on.
#   awk -f ../csv.awk -f split.awk PROGRAMS >split.csv     with the columns suite,program
function hash(text,    command, line) {
  command = "printf %s '" text "' | sha256sum"
  command | getline line
  close(command)
  return substr(line, 1, 16)
}
BEGIN { print "suite,program,part,hash" }
!read_row() { next }
seen[cell("suite"), cell("program")]++ { next }
{
  suite = cell("suite")
  program = cell("program")
  h = hash(suite "/" program)
  byte = index("0123456789abcdef", substr(h, 1, 1)) * 16 + index("0123456789abcdef", substr(h, 2, 1)) - 17
  part = "chosen"
  if (suite == "hecbench" || suite == "pmpp" || suite == "h100") part = byte < 64 ? "held" : "chosen"
  if (suite == "qv100_cycles") part = program ~ /^(MaxFlops|l[12]_|mem_bw|shared_)/ ? "chosen" : "held"
  if (suite == "tunehub") part = byte < 128 ? "held" : "chosen"
  print suite "," program "," part "," h
}
