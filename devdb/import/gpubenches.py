"""Curves of the device database from what RRZE-HPC/gpu-benches printed.

Usage: python3 devdb/import/gpubenches.py devdb/curves devdb/devices.csv gpubenches.csv

gpubenches.csv has a row for each line that a program printed: benchmark, device, variant, source, line, text (white
space folded). Writes DEVICE.csv of each device into the first folder, rows of the record `measurement`. What the
programs measure, as far as a row depends on it:

  gpu-stream        doubles, one access in flight for each work-item and stream; buffers of 2^28 + 2 of them, 2^27 + 2
                    where the header is the older "blockSize threads". Groups that are no whole wavefronts are left
                    out: they are half empty at the occupancy of full ones.
  gpu-cache         all units read the same buffer at the same time, so beyond the first level one unit's misses serve
                    the others: the row is no measure of the lower levels' capacity.
  gpu-l2-cache      groups read sets in turn; the distinct bytes are the second column.
  gpu-l2-stream     kernels read, scale, triad and init over sets that groups repeat; for each the fastest, the median
                    and the slowest time. The third column but one is the size of two buffers: read and init touch
                    one, triad four. Of the occupancies the highest is taken.
  gpu-latency       one work-item follows a random cycle with a stop on each line of 128 bytes. The fourth column is
                    milliseconds of the whole run, the fifth clocks per load, the sixth their median in newer files.
  gpu-small-kernels time per launch of a kernel that copies doubles, from the rate; the best group size counts.
  gpu-strides       clocks per load of 32 work-items from the first level.

Sets and sizes that are less than a tenth beyond the last one are left out, as are the stencils of gpu-stream and all
of gpu-roofline.
"""

import csv
import itertools
import re
import sys
from collections import defaultdict

COLUMNS = (
    "device,backend,metric,access,direction,word_bytes,occupancy,working_set_bytes,value,mad,ci_low,ci_high,"
    "samples,status,reason,class,variant,outliers,clock_hz,other_load_pct,source"
).split(",")


def fail(place, message):
    print(f"{place}: {message}", file=sys.stderr)
    sys.exit(3)


class Line(list):
    """What a program printed on a line, as cells between white space."""

    def __init__(self, place, text, variant):
        super().__init__(text.split())
        self.place, self.text, self.variant = place, text, variant

    def number(self, at):
        """This cell, a number above 0."""
        try:
            value = float(self[at])
        except (IndexError, ValueError):
            value = 0
        if not value > 0:
            fail(self.place, f"no value above 0 in '{self.text}'")
        return value


def thinned(lines, at):
    """Lines whose size, cell `at`, is at least a tenth beyond the last one."""
    last = 0
    for line in lines:
        if line.number(at) >= 1.1 * last:
            last = line.number(at)
            yield line


def like(pattern, lines):
    return [line for line in lines if re.match(pattern, line.text)]


# Of each benchmark: the rows of what it printed on a device. Cells are counted from 0.


def stream(lines, device):
    width, threads = float(device["wave_width"]), float(device["max_threads_per_cu"])
    older = False
    seen = set()
    for line in lines:
        if line[0].startswith("block"):
            older = line[0] == "blockSize"
            continue
        if "GB/s:" not in line:
            fail(line.place, f"no rates in '{line.text}'")
        # Older programs put two groups on a unit and print the first's size: the occupancy tells, to half a wavefront.
        share = line.number(2) / 100 if older else line.number(0) * line.number(2) / threads
        waves = int(share * threads / width + 0.5)
        if line.number(0) % width or waves in seen:
            continue
        seen.add(waves)
        row = dict(metric="global_bandwidth_bytes_per_s", access="coalesced", occupancy=waves * width / threads)
        first = line.index("GB/s:") + 1
        for at, (direction, buffers) in enumerate([("write", 1), ("read", 1), ("copy", 2), ("triad", 4)], first):
            size = buffers * 8 * ((2**27 if older else 2**28) + 2)
            yield dict(row, direction=direction, word_bytes=8, working_set_bytes=size, value=line.number(at) * 1e9)


def from_cache(set_kb, gb_per_s, variant):
    row = dict(metric="cache_bandwidth_bytes_per_s", access="coalesced", direction="read", variant=variant)
    return dict(row, working_set_bytes=round(set_kb * 1024), value=gb_per_s * 1e9)


def cache(lines, device):
    for line in thinned(like(r"\S+ kB ", lines), 0):
        yield from_cache(line.number(0), line.number(4), "same")


def l2_cache(lines, device):
    for line in thinned(like(r"\S+ kB \S+ kB ", lines), 2):
        yield from_cache(line.number(2), line.number(6), "turns")


def l2_stream(lines, device):
    def share(line):
        return line.number(0) * line.number(1) / float(device["max_threads_per_cu"])

    timed = like(r"\d+ .* GB/s:( \S+){12}", lines)
    whole = [line for line in timed if line.number(0) % float(device["wave_width"]) == 0]
    fullest = [max(of_set, key=share) for _, of_set in itertools.groupby(whole, lambda line: line.number(3))]
    for line in thinned(fullest, 3):
        for direction, at, buffers in ("read", 8, 1), ("copy", 11, 2), ("triad", 14, 4), ("write", 17, 1):
            row = from_cache(line.number(3) / 2 * buffers, line.number(at), "stream")
            yield dict(row, direction=direction, word_bytes=8, occupancy=share(line))


def latency(lines, device):
    for line in thinned(like(r"\d+ ", lines), 2):
        row = dict(metric="load_latency_s", access="random", direction="read", word_bytes=8)
        clock_hz = line.number(1) * 1e6
        seconds = line.number(5 if len(line) > 5 else 4) / clock_hz
        yield dict(row, working_set_bytes=round(line.number(2) * 1024), value=seconds, clock_hz=round(clock_hz))


def small_kernels(lines, device):
    labels = {"gsync": "grid", "pt": "counter", "graph": "copies in a graph"}
    for line in thinned([line for line in like(r"\d+ \S+ \d", lines) if line.number(0) <= 2**18], 0):
        copied = 16 * line.number(0)
        seconds = copied / (max(line.number(at) for at in range(2, len(line))) * 1e9)
        metric = "barrier_s" if line.variant in ("gsync", "pt") else "launch_throughput_s"
        variant = labels.get(line.variant, "copies")
        yield dict(metric=metric, working_set_bytes=round(copied), value=seconds, variant=variant)


def strides(lines, device):
    for line in like(r"\S+ (block|stride) ", lines):
        access = "coalesced" if line[1:3] == ["stride", "1"] else line[1] + line[2]
        row = dict(metric="load_gap_cycles", access=access, direction="read", word_bytes=4 if line[0] == "float" else 8)
        yield dict(row, value=line.number(4), variant="l1")


BENCHMARKS = {
    "gpu-stream": stream,
    "gpu-cache": cache,
    "gpu-l2-cache": l2_cache,
    "gpu-l2-stream": l2_stream,
    "gpu-latency": latency,
    "gpu-small-kernels": small_kernels,
    "gpu-strides": strides,
    "gpu-roofline": lambda lines, device: [],
}


def rounded(value):
    if not isinstance(value, float):
        return value
    return f"{value:.0f}" if value.is_integer() or value > 1e6 else f"{value:.6g}"


def read(path):
    """Rows, each with its place."""
    with open(path, newline="", encoding="utf-8") as file:
        for row in (reader := csv.DictReader(file)):
            yield f"{path}:{reader.line_num}", row


def runs(path, devices):
    """The lines of each program on each device."""
    out = defaultdict(list)
    for place, row in read(path):
        if row["device"] not in devices:
            fail(place, f"no device '{row['device']}' in devices.csv")
        if row["benchmark"] not in BENCHMARKS:
            fail(place, f"no benchmark '{row['benchmark']}' is known")
        line = Line(place, row["text"], row["variant"])
        if line and line[0] not in ("clock:", "data"):
            out[row["benchmark"], row["device"], row["variant"], row["source"]].append(line)
    return out


def main(folder, devices_path, path):
    devices = {row["device"]: row for _, row in read(devices_path)}
    curves = defaultdict(list)
    for (benchmark, device, _, source), lines in runs(path, devices).items():
        backend = "hip" if devices[device]["vendor"] == "AMD" else "cuda"
        common = {"device": device, "backend": backend, "status": "ok", "source": f"{source} {benchmark}"}
        for row in BENCHMARKS[benchmark](lines, devices[device]):
            curves[device].append(common | {column: rounded(value) for column, value in row.items()})
    for device, rows in curves.items():
        with open(f"{folder}/{device}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
