# Read by the others: PROGRAMS and APPLICATION are their arguments. A folder and caches of the test's own.
set -eu
programs=$1 application=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache" POCL_CACHE_DIR="$folder/pocl"
[ -x /usr/lib/llvm-19/bin/clang ] || command -v clang-19 >/dev/null || { echo "kernelcast-skipped: no clang-19"; exit 0; }
"$application" 0 1 1 >/dev/null 2>&1 || [ $? != 77 ] || { echo "kernelcast-skipped: no OpenCL device"; exit 0; }
advise() { "$programs/kernelcast-advise" --no-registers "$@"; }
# The cells of a column by its name, one a line.
column() { awk -F, -v want="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == want) at = i } NR > 1 { print $at }' "$1"; }
fail() { echo "$*"; exit 1; }
