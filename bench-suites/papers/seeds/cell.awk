# Called by cell.
BEGIN {
  count = split(arguments, argument, "\037") - 1
  wanted = argument[1]
  factor = 1
  if (match(wanted, /%[a-z]+$/)) { over = substr(wanted, RSTART + 1); wanted = substr(wanted, 1, RSTART - 1) }
  if (match(wanted, /\*[-+.0-9e]+$/)) { factor = substr(wanted, RSTART + 1); wanted = substr(wanted, 1, RSTART - 1) }
}
function number(text) {
  if (text !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) return text
  return factor == 1 && text ~ /^-?[0-9]+$/ ? text : sprintf("%.5g", factor * text)
}
{
  if (!read_row()) next
  for (i = 2; i <= count; ++i) {
    at = index(argument[i], "=")
    if (cell(substr(argument[i], 1, at - 1)) != substr(argument[i], at + 1)) next
  }
  value = cell(wanted)
  ++rows
  sum += factor * value
  if (rows == 1 || factor * value > max) max = factor * value
  line = line (rows > 1 ? " " : "") number(value)
}
END {
  if (!rows) { print "cell: no row has" substr(arguments, length(argument[1]) + 1) > "/dev/stderr"; exit 3 }
  if (over == "sum") line = sprintf("%.5g", sum)
  if (over == "mean") line = sprintf("%.5g", sum / rows)
  if (over == "max") line = sprintf("%.5g", max)
  if (over == "count") line = rows
  print line
}
