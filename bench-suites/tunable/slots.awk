# Lanes that were issued per result, by class, from kernel rows of AMD's machine code. A result is an element that the
# kernel stores, four bytes.
BEGIN { print "target,kernel,tile,registers,fp32,integer,special,memory,scalar,scalar_memory,branch,wait,all" }
!read_row() { next }
{
  results = cell("global_store_bytes") / 4
  lanes = (cell("target") ~ /^gfx1/ ? 32 : 64) / results
  tile = cell("case")
  sub(/^.*tile/, "", tile)
  sub(/_.*/, "", tile)
  n = split("fp32 imad+alu special+int_to_fp32 memory scalar scalar_memory issue wait", classes, " ")
  line = cell("target") "," cell("kernel") "," tile "," cell("registers_target")
  all = 0
  for (i = 1; i <= n; ++i) {
    slots = 0
    parts = split(classes[i], names_of_class, "+")
    for (p = 1; p <= parts; ++p) slots += cell("slots_" names_of_class[p])
    all += slots
    line = line sprintf(",%.2f", slots * lanes)
  }
  print line sprintf(",%.2f", all * lanes)
}
