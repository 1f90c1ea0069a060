# Writes the split: which programs constants may be chosen on, and which are held out, by the first byte of the SHA-256 of
# suite/program. Of the tables that came last about a half (below 128) is held, and the whole of hashcat; what came before
# has been scored too often to judge anything, and is for choosing.
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
  if (suite ~ /^(mixbench|tunehub_amd|tunehub_geforce|hecbench_h100)$/ || program == "wangzyon/NVIDIA_SGEMM_PRACTICE") part = byte < 128 ? "held" : "chosen"
  if (suite == "hashcat") part = "held"
  print suite "," program "," part "," h
}
