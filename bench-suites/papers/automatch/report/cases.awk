# The 24 cases behind the paper's 96 %: the device that the model picks for each workload and subset of devices, with words
# and with lines as equation (4)'s messages (a file named *.line.csv). What the paper prints of a pick is in the last column:
# of one it says which device is picked and which is faster; of the 23 others only that they are right, without naming a
# device, so that they cannot be compared.
#   awk -f csv.awk -f cases.awk ranking-SUBSET.csv … ranking-SUBSET.line.csv …

BEGIN { print "subset,workload,picked (words),limiter,second,slower by,picked (lines),limiter,same pick,the paper prints" }
{
  if (!read_row()) next
  u = FILENAME ~ /\.line\.csv$/ ? "line" : "word"
  subset = FILENAME
  gsub(/.*ranking-|(\.line)?\.csv$/, "", subset)
  key = subset "," cell("kernel")
  if (cell("rank") == 1 && !((u, key) in picked)) {
    if (u == "word") order[++cases] = key
    picked[u, key] = cell("device")
    limiter[u, key] = cell("limiter")
  } else if (!((u, key) in second)) {
    second[u, key] = cell("device")
    slower[u, key] = cell("relative_time")
  }
}
END {
  for (i = 1; i <= cases; ++i) {
    key = order[i]
    same = picked["word", key] == picked["line", key] ? "yes" : "no"
    agreeing += same == "yes"
    prints = key == "i5-2400+i7-4700,lud" ? "picks i7-4700; i5-2400 was faster" : ""
    printf "%s,%s,%s,%s,%.2f,%s,%s,%s,%s\n", key, picked["word", key], limiter["word", key], second["word", key], \
      slower["word", key], picked["line", key], limiter["line", key], same, prints
  }
  printf "all,%d cases,,,,,,,%d the same,\n", cases, agreeing
}
