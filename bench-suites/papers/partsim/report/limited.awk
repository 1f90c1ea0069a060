# Only the sizes that some numbers of GPUs of the system cannot hold. Usage: awk -f limited.awk sim.csv sim.csv
BEGIN { FS = "," }
FNR == 1 && NR > 1 { print; next }
NR == FNR { if ($7 == "") limited[$1, $2, $4, $5] = 1; next }
($1, $2, $4, $5) in limited
