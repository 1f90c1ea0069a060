# On which rows a study judges the choices: those that it did not fit on. Usage as choose_rows.awk.
BEGIN { FS = "," }
FNR == 1 { print; next }
$7 == "" { next }
{ nth = ++seen[$1, $3, $4, $5] }
study == "between" && nth % 2 == 1 { next }
study == "larger" && $2 <= 14336 { next }
{ print }
