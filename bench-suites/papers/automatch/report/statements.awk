# What section IV-A and B of the paper states and profiles and projections can decide, one line each: what it says, what
# comes out here, whether that agrees. Where the answer depends on what equation (4) calls a message, both readings stand
# beside each other: words of 8 bytes (the default), and lines of the device, of which each reference moves one (a file
# named *.line.csv). ARC1 is the i5-2400, ARC2 the i7-4700, ARC3 the C2075, ARC5 the K20X.
#   awk -f csv.awk -f statements.awk PROFILE… cost.csv cost.line.csv

{
  if (!read_row()) next
  k = cell("kernel")
  if ("quantity" in column) {
    q = cell("quantity")
    n = cell("count") + 0
    if (q == "depth" || q == "flop" || q == "load" || q == "store") total[k, q] = n
    if (q == "stack_distance" && cell("granularity_bytes") == 8) {
      if (cell("low") == "")
        cold[k] += n
      else
        at[k, cell("low") + 0] += n
      references[k] += n
    }
    if (q == "level_profile" && k == "lud") lud_level[++lud_levels] = n / (cell("high") - cell("low"))
    next
  }
  u = FILENAME ~ /\.line\.csv$/ ? "line" : "word"
  time[u, k, cell("device")] = cell("time_s") + 0
  limiter[u, k, cell("device")] = cell("limiter")
  part[u, k, cell("device"), "chip"] = cell("t_comp_s") + cell("t_fast_s")
}

function width(k) { return total[k, "flop"] / total[k, "depth"] }

function streams(k, part_wanted,    pair, d, n, best, sum, count) {
  # The fewest distances that hold this part of the references.
  split("", taken)
  sum = cold[k]
  count = 1
  while (sum < part_wanted * references[k] && count < 1000) {
    best = -1
    for (pair in at) {
      split(pair, d, SUBSEP)
      if (d[1] == k && !(pair in taken) && (best == -1 || at[pair] > n)) {
        best = pair
        n = at[pair]
      }
    }
    if (best == -1) break
    taken[best] = 1
    sum += n
    ++count
  }
  return count
}

# A statement that no convention decides has the same answer under both.
function say(where, text, got, holds) { say_both(where, text, got, holds, "the same", holds) }
function say_both(where, text, word_got, word_holds, line_got, line_holds) {
  printf "%s,\"%s\",\"%s\",%s,\"%s\",%s\n", where, text, word_got, word_holds ? "yes" : "NO", line_got, line_holds ? "yes" : "no"
}

function alternates(    i, ups, downs) {
  # Between the few of a division and the many of an update, three levels at a time.
  for (i = 2; i <= lud_levels; ++i) {
    ups += lud_level[i] > 2 * lud_level[i - 1]
    downs += lud_level[i] < lud_level[i - 1] / 2
  }
  return ups > lud_levels / 5 && downs > lud_levels / 5
}

END {
  print "section,the paper says,here (words),holds,with lines,holds"
  say("IV-A", "STENCIL has few execution levels", total["stencil", "depth"] " levels", total["stencil", "depth"] < 100)
  say("IV-A", "and a massive amount of work in every one", sprintf("%.3g operations", width("stencil")), width("stencil") > 1e6)
  say("IV-A", "few memory streams, after the dimensions of the grid", streams("stencil", 0.95) " distances hold 95 %", streams("stencil", 0.95) <= 12)
  say("IV-A", "SPMV has a relatively small number of levels", total["spmv", "depth"] " levels", total["spmv", "depth"] < 100)
  say("IV-A", "with significantly less work than STENCIL's", sprintf("%.3g operations", width("spmv")), width("spmv") < width("stencil") / 3)
  say("IV-A", "SPMV: compulsory misses dominate the memory accesses", sprintf("%.0f %% of the references", 100 * cold["spmv"] / references["spmv"]), cold["spmv"] > references["spmv"] / 2)
  say("IV-A", "LUD's parallelism alternates between two bounds", alternates() ? "it does" : "it does not", alternates())
  say("IV-A", "LUD's work per level decreases down the critical path", sprintf("%.3g in the first tenth; %.3g in the last", early(), late()), early() > 10 * late())
  say("IV-A", "LUD has scattered memory access streams", streams("lud", 0.95) " distances hold 95 %", streams("lud", 0.95) > 50)
  bound("IV-A", "STENCIL is bounded by the off-chip memory on ARC1", "stencil", "i5-2400", "slow_memory")
  on_chip("lavamd", "k20x", "ARC5")
  on_chip("cutcp", "k20x", "ARC5")
  on_chip("lavamd", "c2075", "ARC3")
  on_chip("cutcp", "c2075", "ARC3")
  bound("IV-B", "LUD is bounded by the fast memory on ARC1", "lud", "i5-2400", "fast_memory")
  bound("IV-B", "LUD is bounded by the fast memory on ARC2", "lud", "i7-4700", "fast_memory")
  say_both("IV-B", "of the CPUs the model picks ARC2 for LUD; wrongly as measurements show", lud_times("word"), lud_picked("word"), lud_times("line"), lud_picked("line"))
}

function early(    i, sum) {
  for (i = 1; i <= lud_levels / 10; ++i) sum += lud_level[i]
  return sum / int(lud_levels / 10)
}
function late(    i, sum, n) {
  for (i = lud_levels; i > lud_levels - int(lud_levels / 10); --i) {
    sum += lud_level[i]
    ++n
  }
  return sum / n
}
function bound(where, text, k, device, wanted) {
  say_both(where, text, limiter["word", k, device], limiter["word", k, device] == wanted, limiter["line", k, device], limiter["line", k, device] == wanted)
}
function chip_pct(u, k, device) { return 100 * part[u, k, device, "chip"] / time[u, k, device] }
function on_chip(k, device, name) {
  say_both("IV-A", toupper(k) " on " name " is bounded by compute time and on-chip memory", sprintf("%.0f %% of the time", chip_pct("word", k, device)), chip_pct("word", k, device) > 50, sprintf("%.0f %%", chip_pct("line", k, device)), chip_pct("line", k, device) > 50)
}
function lud_times(u) { return sprintf("%.3g ms on ARC1 and %.3g on ARC2", 1e3 * time[u, "lud", "i5-2400"], 1e3 * time[u, "lud", "i7-4700"]) }
function lud_picked(u) { return time[u, "lud", "i7-4700"] < time[u, "lud", "i5-2400"] }
