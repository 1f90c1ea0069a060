# correlations.awk computed.csv paper.csv: the largest distance between computed and published correlations, by property.
BEGIN { FS = ","; print "target,property,cells,largest_distance,within_0.01" }
FNR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
FNR == NR { computed[$at["target"], $at["feature"], $at["property"]] = $at["correlation"]; next }
{
  for (k = 0; k < 2; ++k) {
    property = $at["property"]
    if (k == 1) { if (property != "core_clock_hz") continue; property = "core_clock_fitted_hz" }
    d = computed[$at["target"], $at["feature"], property] - $at["correlation"]
    if (d < 0) d = -d
    key = $at["target"] "," property
    if (!(key in cells)) order[++keys] = key
    ++cells[key]
    if (d > worst[key]) worst[key] = d
    if (d <= 0.01) ++near[key]
  }
}
END { for (k = 1; k <= keys; ++k) printf "%s,%d,%.4f,%d\n", order[k], cells[order[k]], worst[order[k]], near[order[k]] }
