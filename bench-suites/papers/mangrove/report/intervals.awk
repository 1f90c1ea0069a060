# Of each held-out sample: whether its interval holds what was measured, and the ratio of the interval's ends.
read_row() {
  low = cell("time_low_s")
  high = cell("time_high_s")
  measured = cell("measured_s")
  print (low + 0 <= measured + 0 && measured + 0 <= high + 0 ? 1 : 0), (low > 0 ? high / low : 1e300)
}
