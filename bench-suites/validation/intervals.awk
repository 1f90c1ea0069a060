# How the intervals and decided orders of the device database hold for what was left out when they were made.
function figure(name, digits) { return cell(name) == "" ? "–" : sprintf("%." digits "f", cell(name)) }
BEGIN {
  print "| model | left out | suite | programs | covered, % | below, % | high / low | pairs 1.25x apart | decided, % | of decided wrong, % |"
  print "|---|---|---|---|---|---|---|---|---|---|"
}
read_row() {
  orders = cell("left_out") == "kernels" && cell("decided_pct") != ""
  print "| " cell("model") " | " cell("left_out") " | " cell("suite") " | " cell("kernels") " | " figure("coverage_pct", 0) " | " \
        figure("below_pct", 0) " | " figure("interval_ratio", 1) " | " (orders ? cell("pairs") : "–") " | " \
        (orders ? figure("decided_pct", 0) : "–") " | " (orders ? figure("wrong_pct", 1) : "–") " |"
}
