# The columns that projections of all models have, without a header row; the reason only where there is no time. -v suffix=+launches -v launch_s=5e-6: as another
# model, with so much added for each launch, which a first file of kernel rows tells.
#   awk -f ../csv.awk -f common.awk [-v suffix=… -v launch_s=… kernels/SUITE.csv] PROJECTIONS
function quoted(text) {
  if (text !~ /[,"]/) return text
  gsub(/"/, "\"\"", text)
  return "\"" text "\""
}
function later(text) { return text == "" || launch_s == "" ? text : sprintf("%.9g", text + extra) }
FNR == 1 { ++file }
launch_s != "" && file == 1 { if (read_row()) launches[cell("kernel"), cell("case")] += cell("launches"); next }
!read_row() { next }
{
  extra = launch_s * launches[cell("kernel"), cell("case")]
  print quoted(cell("kernel")) "," quoted(cell("case")) "," cell("device") "," cell("model") suffix "," later(cell("time_s")) \
        "," later(cell("time_low_s")) "," later(cell("time_high_s")) "," cell("limiter") "," cell("status") "," \
        (cell("status") == "ok" ? "" : quoted(cell("reason")))
}
