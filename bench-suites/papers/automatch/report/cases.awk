# The 24 cases behind the paper's 96 %: the device that the model picks for each workload and subset of devices, and
# what the paper says of that pick. It says of one that it is wrong; the others it calls right.

BEGIN { print "subset,workload,picked,limiter,second,slower by,paper says of its own pick" }
{
  if (!read_row()) next
  subset = FILENAME
  gsub(/.*ranking-|\.csv$/, "", subset)
  key = subset "," cell("kernel")
  if (cell("rank") == 1 && !(key in picked)) {
    order[++cases] = key
    picked[key] = cell("device")
    limiter[key] = cell("limiter")
  } else if (!(key in second)) {
    second[key] = cell("device")
    slower[key] = cell("relative_time")
  }
}
END {
  for (i = 1; i <= cases; ++i) {
    key = order[i]
    says = key == "i5-2400+i7-4700,lud" ? "wrong" : "right"
    printf "%s,%s,%s,%s,%.2f,%s\n", key, picked[key], limiter[key], second[key], slower[key], says
  }
}
