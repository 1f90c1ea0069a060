# Kernels of the tree have local memory only where ptxas has a stack, and live ranges tell as many groups a unit as its
# registers do, in 90 of 100 for each target. Usage: compilers.sh PROGRAM SOURCE; 77 where there is no ptxas
set -eu
program=$1 source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$source/bench-suites"
ls panwar/*.cl polybench/*.cl shoc/*.cl | "$program" >"$folder/kernels.csv"
awk -f csv.awk -f validation/compilers.awk "$folder/kernels.csv" >"$folder/table"
cat "$folder/table"
grep -q '| compiled by ptxas, too | 0 |' "$folder/table" && { echo "no ptxas"; exit 77; }
grep -q '| local memory that ptxas keeps in registers (it does not count) | 0 |' "$folder/table"
grep -q '| local memory, and no scratch of AMD.s | 0 ' "$folder/table"
awk -F '|' '/sm_/ { ++targets; if ($3 < 90) low = 1 } END { exit low || targets < 7 }' "$folder/table"
