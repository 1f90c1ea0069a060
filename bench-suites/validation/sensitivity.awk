# "median | bias | within": the means over suites, or the figures of the one suite that there is.
!read_row() { next }
cell("model") !~ /^(queue|panwar)$/ { next }
cell("by") == "suites" || (cell("by") == "suite" && line == "") {
  line = sprintf("%.1f | %.1f | %.0f", cell("median_error_pct"), cell("bias_pct"), cell("within_half_pct"))
}
END { print line }
