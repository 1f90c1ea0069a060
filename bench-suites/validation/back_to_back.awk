# One line of back_to_back.sh.
read_row() && cell("model") == "queue" && cell("by") == "all" {
  printf "| %s | %s | %.1f | %.1f | %.0f | %.0f |\n", what, cell("times"), cell("median_error_pct"), cell("bias_pct"), cell("within_half_pct"), cell("coverage_pct")
}
