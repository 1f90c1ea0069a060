# Of the measured times of `device` how many lie in the predicted interval, and how many have one: -v device=NAME TARGETS PREDICTED
!read_row() { next }
FILENAME ~ /targets/ { if (cell("device") == device) time[cell("kernel"), cell("case")] = cell("time_s") + 0; next }
(cell("kernel"), cell("case")) in time && cell("time_s") != "" {
  t = time[cell("kernel"), cell("case")]
  ++all
  if (cell("time_low_s") + 0 <= t && t <= cell("time_high_s") + 0) ++inside
}
END { print inside + 0, all + 0 }
