#!/bin/sh
# The tree speaks of itself alone, in plain English: no path of one machine, nothing unfinished, no phrase that makes a
# reader stop. Usage: words.sh SOURCE_DIR
set -eu
cd "$1"
status=0
refuse() {  # what it is, extended regular expression, one of what is allowed all the same
  found=$(grep -rnIE "$2" --include='*' --exclude-dir=.git --exclude=.git --exclude-dir='build*' --exclude=words.sh \
    --exclude='*.ptx' --exclude='*.sass' --exclude='*.csv' . | grep -vE "${3:-^$}" || true)
  [ -z "$found" ] && return
  echo "$1:"
  echo "$found"
  status=1
}
refuse 'a path of one machine' '(^|[^A-Za-z0-9_.])/(home|root|work)/[a-z]'
refuse 'a file that is not here' '(^|[^a-z])(tools|models|targets|style|toolchain)\.md|shared/design'
refuse 'something unfinished' '(TO''DO|FIX''ME|XX''X:|not implemented yet)'

refuse 'is observed; is ignored, read or tried' '\blook(ed|s|ing) on\b|\b(is|are|was|were|be) looked at\b|\blooks? again\b'
refuse 'unset, the user, no thread; or the passive voice' '\b([Nn]o|[Ss]ome|[Ee]very|[Aa]ny)body\b' \
  'user\.(name|email) nobody|user nobody'
refuse 'is in, is described in, is listed in, is replaced by' '\b[Ss]t(an|oo)ds? in\b'
refuse 'is duplicated' '\bstands? twice\b'
refuse 'conventions' '\b[Mm]anners?\b'
refuse 'module, source layout; buffer pool' '\b([Rr]ooms|house|guests)\b'
refuse 'message, warning' '\bwith a word (about|on)\b|\ba word about\b|\bwords? of (doubt|warning)\b'
refuse 'default, common' '\b([Tt]he|[Aa]|[Aa]s|beyond the) usual\b|\busual_' 'the usual one ends'
refuse 'max_, min_' '\b(most|least)_[a-z]' '(add|trivial:)?_?most_often_best'
refuse 'exits with status' '\bend(s|ed|ing)? with status\b'
refuse 'device queries report' '\b(device|runtime|driver|library|platform) is asked\b|\b[A-Z]+[0-9]+ answers\b'
refuse 'is not meaningful, is not a …' '[^e] (is|was) no (prediction|sensible|number|multiple|text|size|image|file|language|reason)\b' \
  '[Tt]here (is|was) no'
refuse 'is invalid, is not possible' '\bcannot be[.,;:"'\'')]'
refuse 'internal error; error' '\bmistakes? of (the|this)\b|\b(the )?user.s mistakes?\b'
refuse 'out of memory; unknown' '\bfor want of\b|\bwant of memory\b'
refuse 'timeout, budget; unknown value; poll interval' \
  '\b([Pp]atience|[Ss]trangers?)\b|_patience\b|\bpatience_|stranger_|_stranger|look_again|_look_ms|_look_s\b'
refuse 'a name that says what it does' '\b(asks|tells?)_[a-z]|_(as|un)?asked\b|\bas_asked\b'
exit $status
