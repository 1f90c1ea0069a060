# The targets of AMD's devices in a table of measured times, joined by commas.
#   awk -f ../../csv.awk -f amd_targets.awk MEASURED devices.csv
!read_row() { ++file; next }
file == 1 { measured[cell("device")] = 1; next }
cell("vendor") == "AMD" && cell("device") in measured && !seen[cell("target")]++ {
  printf "%s%s", count++ ? "," : "", cell("target")
}
