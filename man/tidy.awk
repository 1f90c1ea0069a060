# scdoc's roff made lint-clean: no empty paragraph macro before the end of an indented block or a heading, and no text
# line over 80 bytes (mandoc fills text anyway; literal blocks between .nf and .fi stay as they are).
function emit(line,    cut) {
  if (line ~ /^\.nf/) literal = 1
  if (line ~ /^\.fi/) literal = 0
  while (!literal && line !~ /^[.']/ && length(line) > 78) {
    for (cut = 78; cut > 1 && substr(line, cut, 1) != " "; cut--);
    if (cut <= 1) break
    print substr(line, 1, cut - 1)
    line = substr(line, cut + 1)
    if (line ~ /^[.']/) line = "\\&" line
  }
  print line
}
held { held = 0; if ($0 !~ /^\.(RE|SH|SS|P)/) emit(".P") }
/^\.P$/ { if (!heading) held = 1; next }
{ heading = /^\.S[HS]/; emit($0) }
