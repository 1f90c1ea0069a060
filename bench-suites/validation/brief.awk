# The first screen's table: the default pipeline, the models beside it, and the strongest of the trivial ones.
function figure(name, digits) { return cell(name) == "" ? "–" : sprintf("%." digits "f", cell(name)) }
BEGIN {
  says["queue"] = "`perfcast`, the default"
  says["panwar+launches"] = "`perfcast --model panwar --launch-cost 5e-6`"
  says["ake+launches"] = "`akemu --launch-cost 5e-6` (pmpp only)"
  says["trivial:roofline"] = "roofline of distinct bytes"
  says["trivial:launches"] = "5 us a launch"
  says["order:peak_flops"] = "stated peak flops"
  says["order:peak_bandwidth"] = "stated bandwidth"
  says["order:random"] = "any device"
  print "| predicted by | median error, % | within a factor of 1.5, % | fastest device picked, % | lost by the choice, % | tau |"
  print "|---|---|---|---|---|---|"
}
!read_row() { next }
cell("by") == "suites" && cell("model") in says {
  print "| " says[cell("model")] " | " figure("median_error_pct", 0) " | " figure("within_half_pct", 0) " | " \
        figure("best_picked_pct", 0) " | " figure("mean_penalty_pct", 0) " | " figure("tau", 2) " |"
}
