# Which rows of the simulations a study fits on. Usage: awk -v study=NAME -f choose_rows.awk sim.csv
BEGIN { FS = OFS = ","; srand(7) }
FNR == 1 { print; next }
$7 == "" { next }
{ nth = ++seen[$1, $3, $4, $5] }
study == "between" && nth % 2 == 0 { next }         # every other size
study == "larger" && $2 > 14336 { next }            # the smaller half of the sizes
study == "counts" && $3 % 3 == 2 { next }           # without 2, 5, 8, 11 and 14 GPUs
study == "noise" { $7 *= 1 + 0.05 * sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand()) }
{ print }
