"""Projected times of whole models beside those that others measured, as Markdown: timm's models, and llama.cpp's decoding.

Usage: PYTHONPATH=../../libcore/api/python python3 score.py operators.csv measured/timm.csv ../measured/public/llama_cpp.csv configs
"""

import csv
import sys
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from statistics import median

from kernelcast import llm
from kernelcast.operators import Issued, Operator, Recording


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def recordings(path):
    """By model, layout and batch."""
    out = defaultdict(lambda: Recording([], graph=True))
    for row in rows(path):
        sizes = (float(row[name]) for name in ("flop", "read_bytes", "written_bytes"))
        one = Issued(Operator(row["kernel"], row["library"], *sizes))
        out[row["model"], row["layout"], row["batch"]].issued.extend([one] * int(row["count"]))
    return out


def times(recording, devices):
    """Seconds by device, without the host's."""
    return {row["device"]: row["time_s"] for row in recording.project(sorted(devices), host="none").ranking}


def line(name, ratios):
    errors = [abs(ratio - 1) for ratio in ratios]
    within = sum(1 / 1.5 <= ratio <= 1.5 for ratio in ratios) / len(ratios)
    return f"| {name} | {len(ratios)} | {100 * median(errors):.0f} | {median(ratios):.2f} | {100 * within:.0f} |"


def tau(measured, projected):
    """Kendall's, of the devices that both have."""
    pairs = list(combinations(sorted(set(measured) & set(projected)), 2))
    signs = [(measured[a] - measured[b]) * (projected[a] - projected[b]) for a, b in pairs]
    return sum((sign > 0) - (sign < 0) for sign in signs) / len(pairs)


def models(operators, measured):
    by_case = defaultdict(dict)
    for row in rows(measured):
        by_case[row["model"], row["layout"], row["batch"], row["part"]][row["device"]] = float(row["time_s"])
    recorded, ratios = recordings(operators), defaultdict(list)
    for (model, layout, batch, part), of in by_case.items():
        projected = times(recorded[model, layout, batch], of)
        for device, seconds in of.items():
            ratios[part, device, layout].append(projected[device] / seconds)
    for key in sorted(ratios):
        print(line(f"timm, {', '.join(key)}", ratios[key]))
    for part in ("chosen", "held"):
        print(line(f"timm, {part}, all", [ratio for key, all_ in ratios.items() if key[0] == part for ratio in all_]))


def decoding(measured, configs):
    names = {"f16": "fp16", "q4_k_m": "int4"}
    cases = defaultdict(dict)
    for row in rows(measured):
        if row["gpus"] == "1" and row["phase"] == "decode":
            cases[row["model"], row["weights"]][row["device"]] = 1 / float(row["tokens_per_s"])
    for (model, weights), of in cases.items():
        config = llm.Config.read(Path(configs, model.lower() + ".json"))
        recording = llm.step(config, 1, 512, weights=names[weights])
        recording.memory_bytes = {}
        projected = times(recording, of)
        print(line(f"llama.cpp, {model}, {weights}, a token", [projected[device] / of[device] for device in of]))
        print(f"  tau of {len(of)} GPUs {tau(of, projected):.2f}", file=sys.stderr)


def main(operators, timm, llama, configs):
    print("| models | times | median error, % | median ratio | within 1.5, % |\n|---|---|---|---|---|")
    models(operators, timm)
    decoding(llama, configs)


if __name__ == "__main__":
    main(*sys.argv[1:])
