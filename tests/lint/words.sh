#!/bin/sh
# The tree speaks of itself alone: no path of one machine, nothing unfinished. Usage: words.sh SOURCE_DIR
set -eu
cd "$1"
status=0
refuse() {  # what it is, extended regular expression
  found=$(grep -rnIE "$2" --include='*' --exclude-dir=.git --exclude=.git --exclude-dir='build*' --exclude=words.sh . || true)
  [ -z "$found" ] && return
  echo "$1:"
  echo "$found"
  status=1
}
refuse 'a path of one machine' '(^|[^A-Za-z0-9_.])/(home|root|work)/[a-z]'
refuse 'a file that is not here' '(^|[^a-z])(tools|models|targets|style|toolchain)\.md|shared/design'
refuse 'something unfinished' '(TO''DO|FIX''ME|XX''X:|not implemented yet)'
exit $status
