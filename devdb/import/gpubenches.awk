# Curves of the device database from what RRZE-HPC/gpu-benches printed.
#
#   awk -f bench-suites/csv.awk -f devdb/import/gpubenches.awk -v out=devdb/curves devdb/devices.csv gpubenches.csv
#
# gpubenches.csv has a row for each line that a program printed: benchmark, device, variant, source, line, text (white
# space folded). Writes out/DEVICE.csv, rows of the record `measurement`. What the programs measure, as far as a row
# depends on it:
#
#   gpu-stream        doubles, one access in flight for each work-item and stream; buffers of 2^28 + 2 of them, 2^27 + 2
#                     where the header is the older "blockSize threads". Groups that are no whole wavefronts are left
#                     out: they are half empty at the occupancy of full ones.
#   gpu-cache         all units read the same buffer at the same time, so beyond the first level one unit's misses serve
#                     the others: the row is no measure of the lower levels' capacity.
#   gpu-l2-cache      groups read sets in turn; the distinct bytes are the second column.
#   gpu-l2-stream     kernels read, scale, triad and init over sets that groups repeat; for each the fastest, the median
#                     and the slowest time. The third column but one is the size of two buffers: read and init touch
#                     one, triad four. Of the occupancies the highest is taken.
#   gpu-latency       one work-item follows a random cycle with a stop on each line of 128 bytes. The fourth column is
#                     milliseconds of the whole run, the fifth clocks per load, the sixth their median in newer files.
#   gpu-small-kernels time per launch of a kernel that copies doubles, from the rate; the best group size counts.
#   gpu-strides       clocks per load of 32 work-items from the first level.
#
# Sets and sizes that are less than a tenth beyond the last one are left out, as are the stencils of gpu-stream and all
# of gpu-roofline.

function fail(message) {
  print FILENAME ":" FNR ": " message > "/dev/stderr"
  failed = 1
  exit 3
}

# A row; `value` in the metric's unit. Globals: device, source.
function put(metric, access, direction, word, occupancy, set, value, variant, clock,    file) {
  if (!(value > 0)) fail("no value above 0 in '" cell("text") "'")
  file = out "/" device ".csv"
  if (!(file in begun)) {
    begun[file] = 1
    print "device,backend,metric,access,direction,word_bytes,occupancy,working_set_bytes,value,mad,ci_low,ci_high," \
          "samples,status,reason,class,variant,outliers,clock_hz,other_load_pct,source" > file
  }
  printf "%s,%s,%s,%s,%s,%s,%s,%s,%s,,,,,ok,,,%s,,%s,,%s\n", device, vendor[device] == "AMD" ? "hip" : "cuda", metric,
         access, direction, word, occupancy, set == "" ? "" : sprintf("%.0f", set), number(value), variant,
         clock == "" ? "" : sprintf("%.0f", clock), source > file
}

function number(x) { return x == int(x) || x > 1e6 ? sprintf("%.0f", x) : sprintf("%.6g", x) }

# Whether a size is to be kept: the first, and each that is a tenth beyond the last one of this series.
function kept(series, size) {
  if (series in last && size < 1.1 * last[series]) return 0
  last[series] = size
  return 1
}

function stream(n, f,    part, i, group, waves, share, set) {
  if (f[1] ~ /^block/) {
    older = f[1] == "blockSize"
    return
  }
  for (part = 1; f[part] != "GB/s:"; ++part)
    if (part == n) fail("no rates in '" cell("text") "'")
  group = f[1]
  if (group % width[device]) return
  # Older programs put two groups on a unit and print the first's size: the occupancy tells, to half a wavefront.
  share = older ? f[3] / 100 : group * f[3] / threads[device]
  waves = int(share * threads[device] / width[device] + 0.5)
  if (seen[device, waves]++) return
  share = waves * width[device] / threads[device]
  set = 8 * (older ? 134217730 : 268435458)
  i = part
  put("global_bandwidth_bytes_per_s", "coalesced", "write", 8, number(share), set, f[++i] * 1e9)
  put("global_bandwidth_bytes_per_s", "coalesced", "read", 8, number(share), set, f[++i] * 1e9)
  put("global_bandwidth_bytes_per_s", "coalesced", "copy", 8, number(share), 2 * set, f[++i] * 1e9)
  put("global_bandwidth_bytes_per_s", "coalesced", "triad", 8, number(share), 4 * set, f[++i] * 1e9)
}

function cache(f) {
  if (f[2] == "kB" && kept(device, f[1]))
    put("cache_bandwidth_bytes_per_s", "coalesced", "read", "", "", f[1] * 1024, f[5] * 1e9, "same")
}

function l2_cache(f) {
  if (f[2] == "kB" && f[4] == "kB" && kept(device, f[3]))
    put("cache_bandwidth_bytes_per_s", "coalesced", "read", "", "", f[3] * 1024, f[7] * 1e9, "turns")
}

# The row of the highest occupancy of a set is written when the next set begins.
function l2_stream(n, f,    share) {
  if (f[1] !~ /^[0-9]+$/ || n < 19) return
  if (f[4] != set_kb) l2_stream_end()
  share = f[1] * f[2] / threads[device]
  if (f[1] % width[device] == 0 && share > best) {
    best = share
    set_kb = f[4]
    for (i = 0; i < 4; ++i) median[i] = f[9 + 3 * i]
  }
}
function l2_stream_end() {
  if (best > 0 && kept(device, set_kb)) {
    put("cache_bandwidth_bytes_per_s", "coalesced", "read", 8, number(best), set_kb * 512, median[0] * 1e9, "stream")
    put("cache_bandwidth_bytes_per_s", "coalesced", "copy", 8, number(best), set_kb * 1024, median[1] * 1e9, "stream")
    put("cache_bandwidth_bytes_per_s", "coalesced", "triad", 8, number(best), set_kb * 2048, median[2] * 1e9, "stream")
    put("cache_bandwidth_bytes_per_s", "coalesced", "write", 8, number(best), set_kb * 512, median[3] * 1e9, "stream")
  }
  best = 0
}

function latency(n, f,    clocks) {
  if (f[1] !~ /^[0-9]+$/ || !kept(device, f[3])) return
  clocks = n > 5 ? f[6] : f[5]
  put("load_latency_s", "random", "read", 8, "", f[3] * 1024, clocks / (f[2] * 1e6), "", f[2] * 1e6)
}

function small_kernels(n, f,    i, rate) {
  if (f[1] !~ /^[0-9]+$/ || f[1] > 262144 || !kept(device SUBSEP cell("variant"), f[1])) return
  for (i = 3; i <= n; ++i) rate = f[i] + 0 > rate ? f[i] + 0 : rate
  if (cell("variant") == "gsync" || cell("variant") == "pt")
    put("barrier_s", "", "", "", "", 16 * f[1], 16 * f[1] / (rate * 1e9), cell("variant") == "pt" ? "counter" : "grid")
  else
    put("launch_throughput_s", "", "", "", "", 16 * f[1], 16 * f[1] / (rate * 1e9),
        cell("variant") == "graph" ? "copies in a graph" : "copies")
}

function strides(f,    word) {
  word = f[1] == "float" ? 4 : 8
  if (f[2] == "block")
    put("load_gap_cycles", "block" f[3], "read", word, "", "", f[5], "l1")
  else if (f[2] == "stride")
    put("load_gap_cycles", f[3] == 1 ? "coalesced" : "stride" f[3], "read", word, "", "", f[5], "l1")
}

FILENAME ~ /devices\.csv$/ {
  if (!read_row()) next
  vendor[cell("device")] = cell("vendor")
  width[cell("device")] = cell("wave_width")
  threads[cell("device")] = cell("max_threads_per_cu")
  next
}

!read_row() { next }

{
  if (cell("device") != device || cell("benchmark") != benchmark) l2_stream_end()
  if (cell("benchmark") != benchmark) {
    split("", last)
    benchmark = cell("benchmark")
  }
  device = cell("device")
  if (!(device in vendor)) fail("no device '" device "' in devices.csv")
  source = cell("source") " " benchmark
  n = split(cell("text"), f, " ")
  if (f[1] == "clock:" || f[1] == "data") next
  if (benchmark == "gpu-stream") stream(n, f)
  else if (benchmark == "gpu-cache") cache(f)
  else if (benchmark == "gpu-l2-cache") l2_cache(f)
  else if (benchmark == "gpu-l2-stream") l2_stream(n, f)
  else if (benchmark == "gpu-latency") latency(n, f)
  else if (benchmark == "gpu-small-kernels") small_kernels(n, f)
  else if (benchmark == "gpu-strides") strides(f)
  else if (benchmark != "gpu-roofline") fail("no benchmark '" benchmark "' is known")
}

END { if (!failed) l2_stream_end() }
