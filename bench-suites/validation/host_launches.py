"""Are small kernels ranked by what launches cost?

Kernels of Extended OpenDwarfs on GPUs, as the host sees them. Predicted: a plain time of the work (instructions at a
quarter of the peak rate, or the memory touched, four times, at 0.7 of the peak bandwidth), and what a launch costs:
5 us, or the device's shortest time among the programs of the other half (every second by name).
Ranked against measured times; ties count by the mean.

Usage: python3 host_launches.py AIWC_DEVICES AIWC_FEATURES AIWC_TIMES
"""

import csv
import itertools
import sys
from collections import defaultdict
from statistics import fmean


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def read(devices_path, features_path, times_path):
    """GPUs and features as they are; measured seconds by kernel with size, then device."""
    gpus = [row for row in rows(devices_path) if row["class"] == "gpu"]
    features = {(row["kernel"], row["size"]): row for row in rows(features_path)}
    times = defaultdict(dict)
    for row in rows(times_path):
        times[row["kernel"], row["size"]][row["device"]] = float(row["time_s"])
    return gpus, features, times


def program(kernel):
    return kernel[0].split(".")[0]


def launches(gpus, times):
    """What a launch of a kernel costs on a GPU: the shortest time of the other half of the programs."""
    half = {name: at % 2 for at, name in enumerate(sorted(set(map(program, times))))}
    shortest = {
        (which, gpu["device"]): min(of[gpu["device"]] for kernel, of in times.items() if half[program(kernel)] == which)
        for which in (0, 1)
        for gpu in gpus
    }
    return lambda kernel, gpu: shortest[1 - half[program(kernel)], gpu["device"]]


def work(features, gpu):
    computing = float(features["total_instruction_count"]) / (float(gpu["peak_fp32_gflops"]) * 1e9 / 4)
    moving = 4 * float(features["total_memory_footprint"]) / (0.7 * float(gpu["peak_bw_gbs"]) * 1e9)
    return max(computing, moving)


def sign(a, b):
    return (a > b) - (a < b)


def score(predict, gpus, times):
    """Means over kernels: how often the fastest is picked, what the picked one loses, and Kendall's tau."""
    hits, losses, taus = [], [], []
    for kernel, of in times.items():
        pairs = [(predict(kernel, gpu), of[gpu["device"]]) for gpu in gpus]
        least, best = min(predicted for predicted, _ in pairs), min(measured for _, measured in pairs)
        picked = [measured for predicted, measured in pairs if predicted <= least * (1 + 1e-9)]
        hits.append(fmean(measured <= best for measured in picked))
        losses.append(fmean(measured / best - 1 for measured in picked))
        taus.append(fmean(sign(p, q) * sign(m, n) for (p, m), (q, n) in itertools.combinations(pairs, 2)))
    return fmean(hits), fmean(losses), fmean(taus)


def main(devices_path, features_path, times_path):
    gpus, features, times = read(devices_path, features_path, times_path)
    launch = launches(gpus, times)
    predictors = {
        "stated peak flops": lambda kernel, gpu: 1 / float(gpu["peak_fp32_gflops"]),
        "stated bandwidth": lambda kernel, gpu: 1 / float(gpu["peak_bw_gbs"]),
        "work + 5 us": lambda kernel, gpu: work(features[kernel], gpu) + 5e-6,
        "work + the device's launch": lambda kernel, gpu: work(features[kernel], gpu) + launch(kernel, gpu),
        "launch alone": launch,
    }
    print("| predicted by | fastest picked % | lost % | tau |\n|---|---|---|---|")
    for name, predict in predictors.items():
        hits, losses, tau = score(predict, gpus, times)
        print(f"| {name} | {100 * hits:.0f} | {100 * losses:.0f} | {tau:.2f} |")
    programs = len(set(map(program, times)))
    print(f"\n{len(times)} kernels and sizes of {programs} programs, {len(gpus)} GPUs.")


if __name__ == "__main__":
    main(*sys.argv[1:])
