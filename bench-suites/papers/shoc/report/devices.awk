# Published times beside projected ones, one row per case and device, in the order of measured.csv.
#   awk -f ../../csv.awk -f devices.awk measured.csv p.csv ...
function milliseconds(s) { return sprintf("%.4g", 1000 * s) }

!read_row() { next }
NR == FNR {
  key = cell("case") SUBSEP cell("device")
  keys[++count] = key
  published[key] = cell("published") " " cell("unit")
  measured[key] = cell("time_s")
  next
}
{
  key = cell("case") SUBSEP cell("device")
  projected[key] = cell("time_s")
  terms[key] = cell("limiter") "," milliseconds(cell("t_compute_s")) "," milliseconds(cell("t_global_s")) "," \
               milliseconds(cell("t_shared_s"))
}
END {
  print "case,device,published,measured_ms,projected_ms,ratio,limiter,compute_ms,global_ms,shared_ms"
  for (i = 1; i <= count; ++i) {
    key = keys[i]
    if (!(key in projected)) continue
    split(key, part, SUBSEP)
    printf "%s,%s,%s,%s,%s,%.2f,%s\n", part[1], part[2], published[key], milliseconds(measured[key]), \
           milliseconds(projected[key]), projected[key] / measured[key], terms[key]
  }
}
