# Replaces what stands between `; begin generated: COMMAND` and `; end generated` by the output of COMMAND. A section of it
# that another program has, too, is described once.
# Usage: PATH=build/bin:$PATH awk -f regions.awk page.scd
function finish() {
  if (section == "") return
  if (section in of) section = title "\nAs of *" of[section] "*, above.\n\n"
  else if (title != "") of[section] = program
  printf "%s", section
  section = title = ""
}
/^; begin generated: / {
  print
  command = substr($0, length("; begin generated: ") + 1)
  program = $4
  while ((command | getline line) > 0) {
    if (line ~ /^## /) { finish(); title = line }
    section = section line "\n"
  }
  finish()
  if (close(command) != 0) { print "regions.awk: " FILENAME ": " command " failed" >"/dev/stderr"; failed = 1 }
  skipping = 1
  next
}
/^; end generated/ { skipping = 0 }
!skipping
END { exit failed }
