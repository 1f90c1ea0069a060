# A row of the index for each device of a data set, from its scores and its forests.
#   awk -f ../csv.awk -f report/index.awk -v data=NAME -v unseen=COLUMN -v source=… -v license=… TARGETS SCORES MODEL…
# Of the trivial predictors the one with the least factor stands beside the forest.
function text(line) {
  sub(/^[^:]*: "/, "", line)
  sub(/",?$/, "", line)
  return line
}
function number(line) {
  sub(/^[^:]*: /, "", line)
  sub(/,$/, "", line)
  return line
}
function best(device, scheme,    who, found) {
  for (who in trivial)
    if ((device, scheme, who) in factor && (found == "" || factor[device, scheme, who] + 0 < factor[device, scheme, found] + 0)) found = who
  return found
}
function quoted(value) { return value ~ /[",]/ ? "\"" value "\"" : value }
function row(    scheme, who) {
  if (device == "") return
  printf "%s,%s,%s-%s.json.zst,%d,%d,%d,%d,%s", device, data, data, device, kernels, samples, trees, seed, unseen
  for (scheme = 1; scheme <= 2; ++scheme) {
    who = best(device, scheme == 1 ? "case" : "unseen")
    printf ",%s,%s,%s", factor[device, scheme == 1 ? "case" : "unseen", "forest"], who, factor[device, scheme == 1 ? "case" : "unseen", who]
  }
  print "," features "," quoted(source) "," license "," of_features "," of_targets
}
BEGIN { trivial["median"]; trivial["kernel"]; trivial["rate"] }
FILENAME ~ /targets.csv$/ { if (read_row()) names_of[cell("kernel")]; next }
FILENAME ~ /csv$/ { if (read_row()) factor[cell("device"), cell("left_out"), cell("predictor")] = cell("factor"); next }
FNR == 1 {
  row()
  device = features = ""
  kernels = samples = in_samples = 0
  split("", seen)
}
/^ "device": / { device = text($0) }
/^  "trees": / { trees = number($0) }
/^  "seed": / { seed = number($0) }
/"features_xxh3_64": / { of_features = text($0) }
/"targets_xxh3_64": / { of_targets = text($0) }
/^   "name": / { features = features (features == "" ? "" : ";") text($0) }
/^  "samples": \[/ { in_samples = 1; next }
in_samples && /^  \]/ { in_samples = 0 }
in_samples {
  ++samples
  name = $0
  sub(/^ *"/, "", name)
  gsub(/\\"/, "\"", name)
  for (at = 1; at < length(name); ++at)  # kernel/case, and either may hold a slash
    if (substr(name, at, 1) == "/" && substr(name, 1, at - 1) in names_of && !seen[substr(name, 1, at - 1)]++) ++kernels
}
END { row() }
