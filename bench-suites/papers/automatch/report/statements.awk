# What section IV-A and B of the paper states and profiles and projections can decide, one line each: what it says, what
# comes out here, whether that agrees. ARC1 is the i5-2400, ARC2 the i7-4700, ARC3 the C2075, ARC5 the K20X.

{
  if (!read_row()) next
  k = cell("kernel")
  if ("quantity" in column) {
    q = cell("quantity")
    n = cell("count") + 0
    if (q == "depth" || q == "flop" || q == "load" || q == "store") total[k, q] = n
    if (q == "stack_distance") {
      if (cell("low") == "")
        cold[k] += n
      else
        at[k, cell("low") + 0] += n
      references[k] += n
    }
    if (q == "level_profile" && k == "lud") lud_level[++lud_levels] = n / (cell("high") - cell("low"))
    next
  }
  time[k, cell("device")] = cell("time_s") + 0
  limiter[k, cell("device")] = cell("limiter")
  part[k, cell("device"), "comp"] = cell("t_comp_s") + 0
  part[k, cell("device"), "fast"] = cell("t_fast_s") + 0
  part[k, cell("device"), "slow"] = cell("t_slow_s") + 0
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

function say(where, text, got, holds) {
  printf "%s,\"%s\",\"%s\",%s\n", where, text, got, holds ? "yes" : "NO"
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
  print "section,the paper says,here,holds"
  say("IV-A", "STENCIL has few execution levels", total["stencil", "depth"] " levels", total["stencil", "depth"] < 100)
  say("IV-A", "and a massive amount of work in every one", sprintf("%.3g operations", width("stencil")), width("stencil") > 1e6)
  say("IV-A", "few memory streams, after the dimensions of the grid", streams("stencil", 0.95) " distances hold 95 %", streams("stencil", 0.95) <= 12)
  say("IV-A", "SPMV has a relatively small number of levels", total["spmv", "depth"] " levels", total["spmv", "depth"] < 100)
  say("IV-A", "with significantly less work than STENCIL's", sprintf("%.3g operations", width("spmv")), width("spmv") < width("stencil") / 3)
  say("IV-A", "SPMV: compulsory misses dominate the memory accesses", sprintf("%.0f %% of the references", 100 * cold["spmv"] / references["spmv"]), cold["spmv"] > references["spmv"] / 2)
  say("IV-A", "LUD's parallelism alternates between two bounds", alternates() ? "it does" : "it does not", alternates())
  say("IV-A", "LUD's work per level decreases down the critical path", sprintf("%.3g in the first tenth; %.3g in the last", early(), late()), early() > 10 * late())
  say("IV-A", "LUD has scattered memory access streams", streams("lud", 0.95) " distances hold 95 %", streams("lud", 0.95) > 50)
  say("IV-A", "STENCIL is bounded by the off-chip memory on ARC1", limiter["stencil", "i5-2400"], limiter["stencil", "i5-2400"] == "slow_memory")
  say("IV-A", "STENCIL runs best on ARC5 then ARC3 then ARC1", sprintf("%.3g %.3g %.3g ms", 1e3 * time["stencil", "k20x"], 1e3 * time["stencil", "c2075"], 1e3 * time["stencil", "i5-2400"]), time["stencil", "k20x"] < time["stencil", "c2075"] && time["stencil", "c2075"] < time["stencil", "i5-2400"])
  bounded("lavamd", "k20x", "ARC5")
  bounded("cutcp", "k20x", "ARC5")
  bounded("lavamd", "c2075", "ARC3")
  bounded("cutcp", "c2075", "ARC3")
  say("IV-B", "LUD is bounded by the fast memory on ARC1", limiter["lud", "i5-2400"], limiter["lud", "i5-2400"] == "fast_memory")
  say("IV-B", "LUD is bounded by the fast memory on ARC2", limiter["lud", "i7-4700"], limiter["lud", "i7-4700"] == "fast_memory")
  say("IV-B", "of the CPUs the model picks ARC2 for LUD; wrongly as measurements show", sprintf("%.3g ms on ARC1 and %.3g on ARC2", 1e3 * time["lud", "i5-2400"], 1e3 * time["lud", "i7-4700"]), time["lud", "i7-4700"] < time["lud", "i5-2400"])
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
function bounded(k, device, name,    chip, off) {
  chip = part[k, device, "comp"] + part[k, device, "fast"]
  off = time[k, device] - chip
  say("IV-A", toupper(k) " on " name " is bounded by compute time and on-chip memory", sprintf("%.0f %% of the time", 100 * chip / time[k, device]), chip > off)
}
