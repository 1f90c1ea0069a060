"""Writes operators.csv: what the models of measured/ ask of a GPU, a line for each operator; or compiled.csv: the record
`kernel` of those that torch.compile runs. Needs torch, torchvision, timm and transformers.

Usage: PYTHONPATH=../../libcore/api/python python3 record.py measured/timm.csv measured/lambda.csv > operators.csv
       PYTHONPATH=../../libcore/api/python python3 record.py --compiled measured/timm_compiled.csv > compiled.csv
       PYTHONPATH=../../libcore/api/python python3 record.py --scaling measured/lambda_parallel.csv
"""

import csv
import io
import sys
import time
import warnings
from collections import Counter

import timm
import torch
import torchvision
import transformers

import kernelcast
import kernelcast.torch

def model(name, size):
    """As timm's benchmark makes it: models of a fixed size get that of the images."""
    try:
        return timm.create_model(name, img_size=size)
    except TypeError:
        return timm.create_model(name)


def bert(large):
    """As NVIDIA's DeepLearningExamples fine-tune it on SQuAD: attention by products."""
    sizes = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
    config = transformers.BertConfig(**(sizes if large else {}))
    config._attn_implementation = "eager"
    return transformers.BertForQuestionAnswering(config)


def recording(name, layout, batch, size, **how):
    """A training step of Lambda's models, a forward pass of timm's."""
    if name.startswith("bert_"):
        tokens = {"input_ids": (batch, size), "attention_mask": (batch, size), "start_positions": (batch,), "end_positions": (batch,)}
        return kernelcast.torch.record(
            lambda: bert(name == "bert_large"),
            lambda: {of: torch.zeros(shape, dtype=torch.long) for of, shape in tokens.items()},
            train=True,
            dtype="float16",
            **how,
        )
    train = {"train": True, "optimizer": sgd} if name == "resnet50" else {}
    return kernelcast.torch.record(
        torchvision.models.resnet50 if train else lambda: model(name, size),
        lambda: torch.zeros(batch, 3, size, size),
        amp="float16",
        channels_last=layout == "nhwc",
        **train,
        **how,
    )


def sgd(parameters):
    return torch.optim.SGD(parameters, 0.1, momentum=0.9, foreach=True)


def cases(*paths):
    """Model, layout, batch and size of images or texts."""
    found = set()
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            found |= {(row["model"], row["layout"], int(row["batch"]), int(row["size"])) for row in csv.DictReader(file)}
    return sorted(found)


def compiled(path):
    """Rows without the columns in which all are empty."""
    rows = []
    for name, layout, batch, size in cases(path):
        start = time.monotonic()
        try:
            kernels = csv.DictReader(io.StringIO(recording(name, layout, batch, size, compile=True).kernels_csv()))
        except kernelcast.KernelcastError as error:
            print(f"{name}: {error.message}", file=sys.stderr, flush=True)
            continue
        rows += [{"model": name, "layout": layout, "batch": batch, **row} for row in kernels]
        print(f"{name} {layout} {batch}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    columns = [name for name in max(rows, key=len) if any(row[name] for row in rows)]
    out = csv.DictWriter(sys.stdout, columns, extrasaction="ignore", lineterminator="\n")
    out.writeheader()
    out.writerows(rows)


def scaling(path):
    """Markdown: how many times as fast as one several GPUs are that average their gradients."""
    print("| model | device | system | GPUs | measured | projected | ratio |\n|---|---|---|---|---|---|---|")
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            seconds = []
            for parallel in (1, int(row["gpus"])):
                made = recording(row["model"], row["layout"], int(row["batch"]), int(row["size"]), parallel=parallel)
                links = ["--system", row["system"]] if parallel > 1 else []
                seconds.append(made.project(row["device"], host="none", options=links).time_s())
            ours, measured = parallel * seconds[0] / seconds[1], float(row["speedup"])
            names = " | ".join(row[name] for name in ("model", "device", "system", "gpus"))
            print(f"| {names} | {measured:.2f} | {ours:.2f} | {ours / measured:.2f} |", flush=True)


def main(*paths):
    warnings.filterwarnings("ignore")
    if paths[0] == "--compiled":
        return compiled(*paths[1:])
    if paths[0] == "--scaling":
        return scaling(*paths[1:])
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["model", "layout", "batch", "kernel", "library", "flop", "read_bytes", "written_bytes", "count"])
    for name, layout, batch, size in cases(*paths):
        try:
            issued = recording(name, layout, batch, size).issued
        except kernelcast.KernelcastError as error:
            print(f"{name}: {error.message}", file=sys.stderr)
            continue
        for one, count in Counter(each.operator for each in issued).items():
            sizes = (int(one.flop), int(one.read_bytes), int(one.written_bytes))
            out.writerow([name, layout, batch, one.kernel, one.library, *sizes, count])
        print(f"{name} {layout} {batch}: {len(issued)} operators", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
