# The measured times that are scored: of each launch that with the caches of its suite (caches.awk), with the part of the
# split that its program belongs to. -v parts=chosen leaves out what is held; -v back_to_back=1: of launches back to back
# instead.
#   awk -f ../csv.awk -f measured.awk split.csv measured/*.csv
function quoted(text) {
  if (text !~ /[,"]/) return text
  gsub(/"/, "\"\"", text)
  return "\"" text "\""
}
BEGIN { print "suite,program,problem,part,kernel,case,device,time_s" }
!read_row() { next }
FILENAME ~ /split\.csv$/ { part[cell("suite"), cell("program")] = cell("part"); next }
FNR == 2 { caches = cell("cache") }
cell("cache") != (back_to_back ? "back_to_back" : caches) || cell("time_s") == "" { next }
{
  its = part[cell("suite"), cell("program")]
  if (its == "") {
    print FILENAME ":" FNR ": program '" cell("program") "' is not in split.csv" > "/dev/stderr"
    exit 3
  }
  if (parts != "" && its != parts) next
  problem = "problem" in column ? cell("problem") : ""
  print cell("suite") "," quoted(cell("program")) "," quoted(problem) "," its "," quoted(cell("kernel")) "," \
        quoted(cell("case")) "," cell("device") "," cell("time_s")
}
