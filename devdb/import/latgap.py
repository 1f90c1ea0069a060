"""Whether rows of devdb/latgap.csv are what the micro-benchmarks that they name printed.

Usage: python3 devdb/import/latgap.py devdb/devices.csv gpubenches.csv devdb/latgap.csv

A latency whose source names gpu-latency/DEVICE.txt (or gpu-latency, of the device that it was measured on) is, from
latency_cycles to latency_high_cycles and 3 % more, the median over sets that fit the level: of the first level up to
half of it, of the second from twice the first to a quarter of the second, of memory from twice the last level. A gap
of the first level whose source names gpu-cache/DEVICE.txt is within 3 % of a line of 128 bytes over the bytes per clock
and unit, the median over sets up to half of the first level.
Prints a line for each row with what was printed and what it has; exit status 1 where one differs.
"""

import csv
import math
import re
import sys
from collections import defaultdict
from statistics import median


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def number(text):
    return float(text or 0)


def printed(path):
    """Of each benchmark and device: pairs of a set's bytes and what was printed for it, clocks or GB/s."""
    out = defaultdict(list)
    for row in rows(path):
        words = row["text"].split()
        if row["benchmark"] == "gpu-latency" and re.match(r"\d+ ", row["text"]):  # steps, clock, set in kB, ms, clocks
            out["gpu-latency", row["device"]].append((float(words[2]) * 1000, float(words[4])))
        if row["benchmark"] == "gpu-cache" and re.match(r"\S+ kB ", row["text"]) and float(words[4]) > 0:
            out["gpu-cache", row["device"]].append((float(words[0]) * 1000, float(words[4])))
    return out


def middle(figures, device, level):
    """The median over sets that fit this level, 0 where there are none."""
    l1, l2, l3 = (number(device[column]) for column in ("l1_per_cu_bytes", "l2_bytes", "l3_bytes"))
    low, high = {"l1": (0, l1 / 2), "l2": (2 * l1, l2 / 4), "dram": (2 * max(l2, l3), math.inf)}[level]
    fitting = [figure for set_bytes, figure in figures if low <= set_bytes <= high]
    return median(fitting) if fitting else 0


def device_of(source, benchmark, measured_on):
    """The device of a figure whose source names the benchmark, else nothing."""
    if named := re.search(benchmark + r"/([A-Za-z0-9_-]+)\.txt", source):
        return named[1].replace("_", "-")
    return measured_on.lower() if benchmark in source else ""


def figures(row, devices, benches):
    """Of a row's latency and gap, where a benchmark is named: what it is, what was printed, from what to what it is."""
    what, level = f"{row['target']} {row['class']}", row["class"].removeprefix("gmem_load_")
    name = device_of(row["src_latency"], "gpu-latency", row["measured_on"])
    if name in devices and row["latency_cycles"]:
        found = middle(benches["gpu-latency", name], devices[name], level)
        yield f"{what} latency, {name}", found, float(row["latency_cycles"]), number(row["latency_high_cycles"])
    name = device_of(row["src_gap"], "gpu-cache", "")
    if name in devices and row["gap_numerator_cycles"] and level == "l1":
        units, clock_hz = float(devices[name]["compute_units"]), float(devices[name]["clock_hz"])
        found = middle(benches["gpu-cache", name], devices[name], level) * 1e9 / units / clock_hz
        has = 128 * float(row["gap_denominator"]) / float(row["gap_numerator_cycles"])
        yield f"{what} gap as bytes per clock, {name}", found, has, has


def main(devices_path, benches_path, latgap_path):
    devices = {row["device"]: row for row in rows(devices_path)}
    benches = printed(benches_path)
    good = []
    for row in rows(latgap_path):
        if not re.fullmatch("gmem_load_(l1|l2|dram)", row["class"]) or row["recommended"] != "yes":
            continue
        for what, found, low, high in figures(row, devices, benches):
            if found:
                good.append(0.97 * low < found < 1.03 * high)
                print(f"{what}: printed {found:.1f}, the row has {low:.1f}{'' if good[-1] else ': not within 3 %'}")
    print(len(good), "figures compared")
    return 0 if good and all(good) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
