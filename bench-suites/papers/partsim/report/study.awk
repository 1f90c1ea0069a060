# Mean and largest penalty of each model in each study. Usage: awk -f csv.awk -f study.awk study=NAME FILE …
!read_row() { next }
{
  key = study "," cell("model")
  if (!(key in count)) order[++keys] = key
  v = cell("penalty_pct") + 0
  ++count[key]
  sum[key] += v
  if (v > most[key]) most[key] = v
  if (v < 1e-6) best[key]++
}
END {
  print "study,model,choices,best_picked_pct,mean_penalty_pct,max_penalty_pct"
  for (k = 1; k <= keys; ++k)
    printf "%s,%d,%.1f,%.4f,%.2f\n", order[k], count[order[k]], 100 * best[order[k]] / count[order[k]],
           sum[order[k]] / count[order[k]], most[order[k]]
}
