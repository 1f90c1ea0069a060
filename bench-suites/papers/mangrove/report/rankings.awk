# Means over the seeds of what ranking_rows.awk wrote, with the least and the greatest.
function spread(key, i) { return sprintf("%.1f,%.1f,%.1f", sum[key, i] / count[key], least[key, i], greatest[key, i]) }
{
  key = $1 ",\"" $2 "\""
  if (!(key in count)) order[++keys] = key
  ++count[key]
  for (i = 3; i <= 5; ++i) {
    sum[key, i] += $i
    if (count[key] == 1 || $i + 0 < least[key, i]) least[key, i] = $i
    if (count[key] == 1 || $i + 0 > greatest[key, i]) greatest[key, i] = $i
  }
  unknown[key] = $5 == ""
}
END {
  print "held_out,who_chooses,best_picked_pct,least,greatest,mean_penalty_pct,least,greatest,relative_error_pct"
  for (pass = 0; pass < 2; ++pass)  # the trivial ones below
    for (k = 1; k <= keys; ++k) {
      key = order[k]
      if ((key ~ /trivial:/) != pass) continue
      print key "," spread(key, 3) "," spread(key, 4) "," (unknown[key] ? "" : sprintf("%.1f", sum[key, 5] / count[key]))
    }
}
