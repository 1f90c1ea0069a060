# Replaces what stands between `; begin generated: COMMAND` and `; end generated` by the output of COMMAND.
# Usage: PATH=build/bin:$PATH awk -f regions.awk page.scd
/^; begin generated: / {
  print
  command = substr($0, length("; begin generated: ") + 1)
  while ((command | getline line) > 0) print line
  if (close(command) != 0) { print "regions.awk: " FILENAME ": " command " failed" >"/dev/stderr"; failed = 1 }
  skipping = 1
  next
}
/^; end generated/ { skipping = 0 }
!skipping
END { exit failed }
