# What the scripts of stand-in devices share; read by them. $1 DEVPROBE, $2 folder of the stand-in.
set -u
probe=$1
export LD_LIBRARY_PATH=$2${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
cd "$(mktemp -d)" || exit 2
trap 'rm -rf "$PWD"' EXIT
fail() { echo "${0##*/}: $*" >&2; exit 1; }
# Whether file $2 has one row of metric $1 with a value. It may be doubtful: the host's time is part of some, and other
# programs take the processor away.
measured() { [ "$(grep -c ",$1,.*,\(ok\|doubtful\)," "$2")" = 1 ]; }
# How many rows of file $2 have a field $1.
count() { awk -F, -v s="$1" 'NR > 1 { for (i = 1; i <= NF; i++) if ($i == s) { n++; break } } END { print n + 0 }' "$2"; }
