"""Projected times of whole models beside those that others measured, as Markdown: forward passes of timm's, training steps of
Lambda's, llama.cpp's decoding, and forward passes of timm's that torch.compile runs.

Usage: PYTHONPATH=../../libcore/api/python python3 score.py operators.csv compiled.csv measured ../measured/public/llama_cpp.csv configs
"""

import csv
import os
import shutil
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Kept(Operator):
    """With a row of the record `kernel` that was written down, of `launches` launches."""

    fields: tuple = ()

    @property
    def kind(self):
        return "library" if self.library else "kernel"

    @property
    def sizes(self):
        return dict(self.fields)["case"]

    def row(self, times):
        return dict(self.fields)


def compiled(path):
    """By model, layout and batch."""
    out = defaultdict(lambda: Recording([], graph=True))
    for row in rows(path):
        key = row.pop("model"), row.pop("layout"), row.pop("batch")
        one = Issued(Kept(row["kernel"], row["library"], fields=tuple(row.items())))
        out[key].issued.extend([one] * int(float(row["launches"])))
    return out


def times(recording, devices):
    """Seconds by device, without the host's, and the same by a roofline: no figure of libraries.csv counts."""
    out = []
    with tempfile.TemporaryDirectory() as folder:
        plain = os.environ["KERNELCAST_DEVDB"]
        bare = shutil.copytree(plain, Path(folder, "devdb"))
        Path(bare, "libraries.csv").write_text("target,operation,type,figure,value,source\n")
        for database in (plain, bare):
            os.environ["KERNELCAST_DEVDB"] = str(database)
            ranking = recording.project(sorted(devices), host="none").ranking
            out.append({row["device"]: row["time_s"] for row in ranking})
        os.environ["KERNELCAST_DEVDB"] = plain
    return out


def line(name, ratios):
    """`ratios`: pairs of projected over measured times, by the model and by the roofline."""
    ours, rooflines = zip(*ratios)
    error, other = (100 * median(abs(ratio - 1) for ratio in all_) for all_ in (ours, rooflines))
    within = sum(1 / 1.5 <= ratio <= 1.5 for ratio in ours) / len(ours)
    return f"| {name} | {len(ours)} | {error:.0f} | {median(ours):.2f} | {100 * within:.0f} | {other:.0f} |"


def tau(measured, projected):
    """Kendall's, of the devices that both have."""
    pairs = list(combinations(sorted(set(measured) & set(projected)), 2))
    signs = [(measured[a] - measured[b]) * (projected[a] - projected[b]) for a, b in pairs]
    return sum((sign > 0) - (sign < 0) for sign in signs) / len(pairs)


def cases(measured):
    """Seconds by device, of each model, layout, batch and part."""
    out = defaultdict(dict)
    for row in rows(measured):
        out[row["model"], row["layout"], row["batch"], row["part"]][row["device"]] = float(row["time_s"])
    return out


def forward(recorded, measured):
    ratios = defaultdict(list)
    for (model, layout, batch, part), of in cases(measured).items():
        ours, roofline = times(recorded[model, layout, batch], of)
        for device, seconds in of.items():
            ratios[part, device].append((ours[device] / seconds, roofline[device] / seconds))
    for key in sorted(ratios):
        print(line(f"timm, a forward pass, {', '.join(key)}", ratios[key]))
    for part in ("chosen", "held"):
        print(line(f"timm, {part}, all", [ratio for key, all_ in ratios.items() if key[0] == part for ratio in all_]))


def compiling(recorded, eager, measured):
    """Also what compiling gains: eager time over compiled time, projected over measured."""
    ratios, gains = defaultdict(list), defaultdict(list)
    for row in rows(measured):
        key, device = (row["model"], row["layout"], row["batch"]), row["device"]
        other = next(known for known in eager if known[:2] == key[:2])  # with a batch of its own
        scale = int(key[2]) / int(other[2])
        (ours, roofline), (plain, bare) = times(recorded[key], [device]), times(eager[other], [device])
        seconds, gain = float(row["time_s"]), float(row["eager_s"]) / float(row["time_s"])
        ratios[device].append((ours[device] / seconds, roofline[device] / seconds))
        gains[device].append((scale * plain[device] / ours[device] / gain, scale * bare[device] / roofline[device] / gain))
    for device in ratios:
        print(line(f"timm, a forward pass compiled, held, {device}", ratios[device]))
        print(line(f"timm, what compiling gains, held, {device}", gains[device]))


def training(recorded, measured):
    """A second for each item of the batch, as devices have different batches."""
    seconds, ours, rooflines = defaultdict(dict), defaultdict(dict), defaultdict(dict)
    for (model, layout, batch, _), of in cases(measured).items():
        for into, found in zip((ours, rooflines, seconds), (*times(recorded[model, layout, batch], of), of)):
            into[model].update({device: found[device] / int(batch) for device in of})
    for model, of in seconds.items():
        print(ranked(f"Lambda, a training step of {model}", of, ours[model], rooflines[model]))


def ranked(name, measured, ours, roofline):
    """A line with the order of the devices."""
    name += f", {len(measured)} GPUs; tau {tau(measured, ours):.2f}, roofline {tau(measured, roofline):.2f}"
    return line(name, [(ours[device] / measured[device], roofline[device] / measured[device]) for device in measured])


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
        print(ranked(f"llama.cpp, a token of {model} in {weights}", of, *times(recording, of)))


def main(operators, inductor, measured, llama, configs):
    print("| models | times | median error, % | median ratio | within 1.5, % | roofline: median error, % |\n|---|---|---|---|---|---|")
    recorded = recordings(operators)
    forward(recorded, Path(measured, "timm.csv"))
    compiling(compiled(inductor), recorded, Path(measured, "timm_compiled.csv"))
    training(recorded, Path(measured, "lambda.csv"))
    decoding(llama, configs)


if __name__ == "__main__":
    main(*sys.argv[1:])
