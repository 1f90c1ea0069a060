#!/bin/sh
# lint.sh MANDOC PAGE…: mandoc's lint must have nothing to say.
[ -x "$1" ] && [ $# -gt 1 ] || { echo "kernelcast-skipped: scdoc or mandoc is not installed"; exit 0; }
mandoc=$1
shift
found=$("$mandoc" -T lint "$@" 2>&1)
[ -z "$found" ] && { echo "$# pages are clean"; exit 0; }
echo "$found"
exit 1
