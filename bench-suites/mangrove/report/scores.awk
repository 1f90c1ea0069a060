# How far held-out predictions of forests are from what was measured, beside trivial predictions that know the same
# samples: the median time of the other samples, the median of the kernel's other cases, and the median of time over work
# of the others, times the sample's work. Work is a column of the features, or the roofline's seconds.
#   awk -f ../csv.awk -f report/scores.awk -v data=NAME -v work=COLUMN -v unseen=COLUMN DEVICES FEATURES TARGETS CASE GROUP
# CASE and GROUP are predictions with each configuration left out, and with all samples of a kernel or program left out.
# A row for each device and way of holding out: factor is exp(mean |ln(predicted/measured)|).

function sort_list(list, low, high,    i, j, pivot, t) {
  while (low < high) {
    pivot = list[int((low + high) / 2)]
    i = low
    j = high
    while (i <= j) {
      while (list[i] < pivot) ++i
      while (list[j] > pivot) --j
      if (i <= j) {
        t = list[i]
        list[i++] = list[j]
        list[j--] = t
      }
    }
    sort_list(list, low, j)
    low = i
  }
}
# Of list[1..n], ascending.
function middle(list, n) { return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2 }

# The median of value[] over the samples of `device` that are not held out with sample s; `near`: of its kernel alone.
# Lists of whole groups are kept; one sample is left out of a list where it is in it.
function median_of(value, what, device, s, scheme, near,    i, n, r, key, list, low, high, at) {
  key = what SUBSEP (scheme != "case" ? group[s] : near ? kernel[s] : "")
  if (!(key in length_of)) {
    n = 0
    for (i = 1; i <= samples[device]; ++i) {
      r = row[device, i]
      if (scheme != "case" && group[r] == group[s]) continue
      if (scheme == "case" && near && kernel[r] != kernel[s]) continue
      list[++n] = value[r]
    }
    sort_list(list, 1, n)
    for (i = 1; i <= n; ++i) kept[key, i] = list[i]
    length_of[key] = n
  }
  n = length_of[key]
  at = n + 1
  if (scheme == "case") {
    low = 1
    high = n
    while (low < high) {
      i = int((low + high) / 2)
      if (kept[key, i] < value[s]) low = i + 1
      else high = i
    }
    at = low
    --n
  }
  if (n == 0) return ""
  low = int((n + 1) / 2)
  high = int(n / 2) + 1
  return (kept[key, low < at ? low : low + 1] + kept[key, high < at ? high : high + 1]) / 2
}

function note(who, predicted, measured,    l) {
  l = log(predicted / measured)
  if (l < 0) l = -l
  factor[who] += l
  error[who, ++count[who]] = (predicted > measured ? predicted - measured : measured - predicted) / measured * 100
  mape[who] += error[who, count[who]]
}
function report(device, scheme,    n, w, who, i, list, names) {
  n = split("forest,median,kernel,rate", names, ",")
  for (w = 1; w <= n; ++w) {
    who = names[w]
    if (!count[who]) continue
    for (i = 1; i <= count[who]; ++i) list[i] = error[who, i]
    sort_list(list, 1, count[who])
    printf "%s,%s,%s,%s,%d,%.3f,%.1f,%.1f\n", data, device, scheme, who, count[who], exp(factor[who] / count[who]),
           middle(list, count[who]), mape[who] / count[who]
  }
  split("", factor); split("", error); split("", count); split("", mape)
}

BEGIN { if (header) print "data_set,device,left_out,predictor,samples,factor,median_pct,mape_pct" }
!read_row() { ++file; next }
file == 1 {
  flops[cell("device")] = cell("peak_fp32_flop_per_s")
  bandwidth[cell("device")] = cell("peak_bandwidth_bytes_per_s")
  next
}
file == 2 {
  key = cell("kernel") SUBSEP cell("case" in column ? "case" : "size")
  if (work == "roofline") { flop[key] = cell("flop"); bytes[key] = cell("read_b") + cell("write_b") }
  else amount[key] = cell(work)
  next
}
file == 3 {
  key = cell("kernel") SUBSEP cell("case")
  if (!((work == "roofline") ? key in flop : key in amount)) next
  device = cell("device")
  s = key SUBSEP device
  row[device, ++samples[device]] = s
  if (samples[device] == 1) order[++devices] = device
  measured[s] = cell("time_s") + 0
  kernel[s] = cell("kernel")
  group[s] = cell(unseen)
  w = amount[key]
  if (work == "roofline") {
    w = flop[key] / flops[device]
    if (bytes[key] / bandwidth[device] > w) w = bytes[key] / bandwidth[device]
  }
  rate[s] = w > 0 ? measured[s] / w : 0
  weight[s] = w
  next
}
{
  scheme = file == 4 ? "case" : "unseen"
  if (cell("time_s") == "") next
  forest[scheme, cell("kernel") SUBSEP cell("case") SUBSEP cell("device")] = cell("time_s") + 0
}
END {
  for (d = 1; d <= devices; ++d)
    for (turn = 1; turn <= 2; ++turn) {
      scheme = turn == 1 ? "case" : "unseen"
      split("", kept)
      split("", length_of)
      for (i = 1; i <= samples[order[d]]; ++i) {
        s = row[order[d], i]
        if (!((scheme, s) in forest)) continue
        note("forest", forest[scheme, s], measured[s])
        note("median", median_of(measured, "m", order[d], s, scheme, 0), measured[s])
        if ((m = median_of(rate, "r", order[d], s, scheme, 0)) * weight[s] > 0) note("rate", m * weight[s], measured[s])
        if (scheme == "case") {
          near = median_of(measured, "k", order[d], s, scheme, 1)
          note("kernel", near == "" ? median_of(measured, "m", order[d], s, scheme, 0) : near, measured[s])
        }
      }
      report(order[d], scheme)
    }
}
