"""Writes operators.csv: what the models of measured/timm.csv ask of a GPU, a line for each operator. Needs torch and timm.

Usage: PYTHONPATH=../../libcore/api/python python3 record.py measured/timm.csv > operators.csv
"""

import csv
import sys
import warnings
from collections import Counter

import timm
import torch

import kernelcast
import kernelcast.torch

def model(name, size):
    """As timm's benchmark makes it: models of a fixed size get that of the images."""
    try:
        return timm.create_model(name, img_size=size)
    except TypeError:
        return timm.create_model(name)


def main(path):
    warnings.filterwarnings("ignore")
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    cases = sorted({(row["model"], row["layout"], int(row["batch"]), int(row["size"])) for row in rows})
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["model", "layout", "batch", "kernel", "library", "flop", "read_bytes", "written_bytes", "count"])
    for name, layout, batch, size in cases:
        try:
            recording = kernelcast.torch.record(
                lambda name=name, size=size: model(name, size),
                lambda batch=batch, size=size: torch.zeros(batch, 3, size, size),
                amp="float16",
                channels_last=layout == "nhwc",
            )
        except kernelcast.KernelcastError as error:
            print(f"{name}: {error.message}", file=sys.stderr)
            continue
        for one, count in Counter(issued.operator for issued in recording.issued).items():
            out.writerow([name, layout, batch, one.kernel, one.library, int(one.flop), int(one.read_bytes), int(one.written_bytes), count])
        print(f"{name} {layout} {batch}: {len(recording.issued)} operators", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
