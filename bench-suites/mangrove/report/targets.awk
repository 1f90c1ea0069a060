# The measured times of a data set, with the device database's names of devices; of programs that validation holds out
# none (tunehub's second kernel is all that its first can be compared with, and stays).
#   awk -f ../csv.awk -f report/targets.awk -v data=NAME ALIASES SPLIT TIMES
BEGIN { print "kernel,case,program,device,time_s" }
function quoted(text) {
  gsub(/"/, "\"\"", text)
  return "\"" text "\""
}
!read_row() { ++file; next }
file == 1 { if (cell("data_set") == data) id[cell("name")] = cell("device"); next }
file == 2 { if (cell("part") == "held" && cell("suite") == "hecbench") held[cell("suite") "/" cell("program")]; next }
{
  program = "program" in column ? cell("program") : cell("kernel")
  if ((data "/" program) in held || cell("time_s") == "") next
  device = cell("device") in id ? id[cell("device")] : cell("device")
  print quoted(cell("kernel")) "," quoted(cell("case" in column ? "case" : "size")) "," quoted(program) "," device "," cell("time_s")
}
