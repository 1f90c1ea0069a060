"""How far held-out predictions of forests are from what was measured, beside trivial ones that know the same samples.

Trivial are the median time of the other samples, the median of the kernel's other cases, and the median of time over
work of the others, times the sample's work. Work is a column of the features, or the roofline's seconds.

Usage: python3 report/scores.py DATA WORK UNSEEN DEVICES FEATURES TARGETS CASE GROUP

DATA: the name of the data; WORK: a column of FEATURES, or roofline. CASE and GROUP are predictions with each
configuration left out, and with all samples of a kernel or program left out: those that have the same in the column
UNSEEN of TARGETS. A row for each device and way of holding out: factor is exp(mean |ln(predicted/measured)|).
"""

import csv
import math
import sys
from bisect import bisect_left
from collections import defaultdict, namedtuple
from statistics import median

Sample = namedtuple("Sample", "key kernel group time work rate")


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def work_of(features, column, device):
    if column != "roofline":
        return float(features[column] or 0)
    computing = float(features["flop"]) / float(device["peak_fp32_flop_per_s"])
    moving = (float(features["read_b"]) + float(features["write_b"])) / float(device["peak_bandwidth_bytes_per_s"])
    return max(computing, moving)


def read_samples(work, unseen, devices_path, features_path, targets_path):
    """The samples of each device."""
    devices = {row["device"]: row for row in rows(devices_path)}
    features = {(row["kernel"], row["case"] if "case" in row else row["size"]): row for row in rows(features_path)}
    out = defaultdict(list)
    for row in rows(targets_path):
        key = row["kernel"], row["case"]
        if key in features:
            time, amount = float(row["time_s"]), work_of(features[key], work, devices.get(row["device"]))
            rate = time / amount if amount > 0 else 0
            out[row["device"]].append(Sample((*key, row["device"]), row["kernel"], row[unseen], time, amount, rate))
    return out


def read_predictions(path):
    return {(row["kernel"], row["case"], row["device"]): float(row["time_s"]) for row in rows(path) if row["time_s"]}


def of_others(values, labels):
    """For each value the median of the others that have its label, None where there are none."""
    ascending = defaultdict(list)
    for value, label in sorted(zip(values, labels)):
        ascending[label].append(value)

    def without(value, values):
        own, others = bisect_left(values, value), len(values) - 1
        low, high = (others - 1) // 2, others // 2
        return (values[low + (low >= own)] + values[high + (high >= own)]) / 2 if others else None

    return [without(value, ascending[label]) for value, label in zip(values, labels)]


def of_other_groups(values, labels):
    """For each value the median of those that have another label, None where there are none."""
    medians = {}
    for label in set(labels):
        others = [value for value, its in zip(values, labels) if its != label]
        medians[label] = median(others) if others else None
    return [medians[label] for label in labels]


def trivial(samples, left_out):
    """For each sample the median time, that of its kernel and the median rate, of those not held out with it."""
    times, rates = [s.time for s in samples], [s.rate for s in samples]
    if left_out == "unseen":
        groups = [s.group for s in samples]
        return zip(of_other_groups(times, groups), [None] * len(samples), of_other_groups(rates, groups))
    all_alike = [""] * len(samples)
    medians = of_others(times, all_alike)
    near = of_others(times, [s.kernel for s in samples])
    return zip(medians, [n or m for n, m in zip(near, medians)], of_others(rates, all_alike))


def report(prefix, samples, left_out, forest):
    pairs = {"forest": [], "median": [], "kernel": [], "rate": []}  # predicted and measured
    for s, (time, of_kernel, rate) in zip(samples, trivial(samples, left_out)):
        if s.key in forest:
            for who, predicted in zip(pairs, (forest[s.key], time, of_kernel, (rate or 0) * s.work)):
                if predicted:
                    pairs[who].append((predicted, s.time))
    for who, its in pairs.items():
        if its:
            factor = math.exp(sum(abs(math.log(predicted / measured)) for predicted, measured in its) / len(its))
            pct = [abs(predicted - measured) / measured * 100 for predicted, measured in its]
            print(f"{prefix},{left_out},{who},{len(its)},{factor:.3f},{median(pct):.1f},{sum(pct) / len(its):.1f}")


def main(data, work, unseen, devices_path, features_path, targets_path, case_path, group_path):
    forests = {"case": read_predictions(case_path), "unseen": read_predictions(group_path)}
    print("data_set,device,left_out,predictor,samples,factor,median_pct,mape_pct")
    for device, samples in read_samples(work, unseen, devices_path, features_path, targets_path).items():
        for left_out, forest in forests.items():
            report(f"{data},{device}", samples, left_out, forest)


if __name__ == "__main__":
    main(*sys.argv[1:])
