# To be read by the tests in this folder: what their arguments are, a folder that goes with them, the compilers, and an end
# that shows what was printed.
programs=$1 miniemu=$2 kernelcast=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
. "$programs/compile.sh"
fail() { echo "$1"; cat "$folder"/out "$folder"/err; exit 1; }
