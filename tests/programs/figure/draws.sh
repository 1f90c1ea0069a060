#!/bin/sh
# Usage: draws.sh FIGURE GOLDEN_DIR. Runs gnuplot on the script in every golden case, and sees that each kind of figure
# has such a case.
set -eu
figure=$1 cases=$2
command -v gnuplot >/dev/null || { echo "kernelcast-skipped: gnuplot is not installed"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0 drawn=
for case in "$cases"/*.golden; do
  kind=$(sed -n 's/.*figure \([a-z-]*\) .*--format gnuplot.*/\1/p' "$case" | head -1)
  [ -n "$kind" ] || continue
  grep -qx '# gnuplot .*' "$case" || continue
  sed -n '/^=== stdout/,/^=== /p' "$case" | sed '/^=== /d' >"$folder/figure.gp"
  if ! words=$(gnuplot "$folder/figure.gp" 2>&1 >"$folder/figure.svg") || [ -n "$words" ]; then
    echo "$case: gnuplot says: $words"
    status=1
  elif ! grep -q '</svg>' "$folder/figure.svg"; then
    echo "$case: no picture"
    status=1
  fi
  drawn="$drawn $kind"
done
for kind in $("$figure" --list | cut -d' ' -f1 | grep -vx report); do
  case " $drawn " in *" $kind "*) ;; *) echo "no golden case draws a figure of kind '$kind'"; status=1 ;; esac
done
echo "drawn:$drawn"
exit $status
