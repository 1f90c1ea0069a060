"""Projected times of NeuSight's operators beside those that it measured, as Markdown: each operator, and each device, by
figures that nothing of it chose; and DeepBench's products.

Usage: PYTHONPATH=../../libcore/api/python python3 neusight.py ../mangrove/data/neusight_times.csv folds.csv
       PYTHONPATH=../../libcore/api/python python3 neusight.py ../measured/public/deepbench_gemm.csv

NeuSight (neusight/Dataset/collect.py) takes a launch between two events, 25 times with a wait after each, and the mean of the
five shortest. The device waits for the host, so a time has what the host needs until the launch; what it needs after it, until
the second event, a kernel hides: time = max(host, host - after + kernel). Both are of the host, no model of a device has
them: the host's time is that of the shortest times of the other operators, by what an operator asks of Python; half of a plain
operator's comes after the launch.
"""

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

from kernelcast.operators import Issued, Operator, Recording, named, product

DEVICES = {
    "NVIDIA A100-PCIE-40GB": "a100",
    "Tesla P100-PCIE-16GB": "p100",
    "Tesla T4": "t4",
    "Tesla V100-PCIE-32GB": "v100",
}
PLAIN = ("add", "mul", "div", "tanh")  # functions of PyTorch, called with tensors
WRAPPED = ("addu", "mulu", "divu", "powu", "relu")  # a function of Python around it
OPERATORS = (*PLAIN, *WRAPPED, "ln", "bmm", "linear")


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def operator_of(kernel, size):
    """NeuSight's letters: B products of M x N and N x K, B rows of H numbers."""
    sizes = {letter: int(number) for letter, number in re.findall(r"([BHKMN])(\d+)", size)}
    if kernel in ("bmm", "linear"):
        return product(kernel, "f32", sizes["M"], sizes["K"], sizes["N"], sizes["B"], width=4)
    count = sizes["B"] * sizes["H"]
    if kernel == "ln":
        return Operator(kernel, named("layer_norm", "f32", sizes["B"], sizes["H"]), 0, 4 * count, 4 * count)
    inputs = 2 if kernel in ("add", "mul", "div") else 1
    return Operator(kernel, named("elementwise", "f32", count), 0, 4 * inputs * count, 4 * count)


def project(operators, devices, database):
    """Seconds of a launch by operator and device, without what a launch costs."""
    recording = Recording([Issued(operator) for operator in operators])
    cases, launches = recording.cases(), recording.launches()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernels.csv")
        recording.write(path)
        out = subprocess.run(
            [Path(os.environ["KERNELCAST_BIN"], "perfcast"), "--quiet", "--devdb", database, "--launch-cost", "0",
             "--device", ",".join(devices), path],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
    times = {(row["kernel"], row["case"], row["device"]): float(row["time_s"]) for row in csv.DictReader(out.splitlines())}
    return {
        (operator, device): times[operator.kernel, cases[operator], device] / launches[operator]
        for operator in set(operators)
        for device in devices
    }


def database(folder, replaced, tiles=lambda row: True):
    """The device database with other figures; `replaced` is None for none at all, `tiles` says which kernels are kept."""
    out = shutil.copytree(os.environ["KERNELCAST_DEVDB"], Path(folder, "devdb"), dirs_exist_ok=True)
    libraries = list(rows(Path(os.environ["KERNELCAST_DEVDB"], "libraries.csv")))
    kept = [] if replaced is None else [row for row in libraries if not row["figure"].startswith("tile_") or tiles(row)]
    with open(Path(out, "libraries.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, libraries[0].keys())
        writer.writeheader()
        for row in kept:
            own = (row["target"], row["operation"], row["type"]) == ("", "gemm", "f32")
            writer.writerow({**row, "value": (replaced or {}).get(row["figure"], row["value"]) if own else row["value"]})
    return out


def host(shortest, kernel, system, known):
    """What the host of a system needs for an operator, and of that after the launch; of the shortest times by operator and
    system only those that are `known`."""
    plain = {
        one: [time for (operator, of), time in shortest.items() if operator in PLAIN and of == one and known(operator, of)]
        for one in DEVICES.values()
    }
    base = median(plain[system] or [time for times in plain.values() for time in times])

    def over(operators):
        """How much longer these take than plain operators, over the systems."""
        ratios = [
            time / median(plain[of]) - 1
            for (operator, of), time in shortest.items()
            if operator in operators and known(operator, of) and plain[of]
        ]
        return median(ratios) if ratios else None

    module, blas, both = over(("ln",)), over(("bmm",)), over(("linear",))
    if module is None:
        module = both - blas
    elif blas is None:
        blas = both - module
    elif both is not None:
        rest = (both - module - blas) / 3
        module, blas = module + rest, blas + rest
    more = (
        (over(WRAPPED) if kernel in WRAPPED else 0)
        + (module if kernel in ("ln", "linear") else 0)
        + (blas if kernel in ("bmm", "linear") else 0)
    )
    return base * (1 + more), base / 2


def errors(measured, kernels, hosts):
    """Projected over measured times, less 1, by operator and device."""
    out = defaultdict(list)
    for (kernel, operator, device), seconds in measured:
        before, after = hosts[kernel, device]
        out[kernel, device].append(max(before, before - after + kernels[operator, device]) / seconds - 1)
    return out


def percent(errors_, wanted):
    of = [error for key, all_ in errors_.items() if wanted(*key) for error in all_]
    return f"{100 * median(abs(error) for error in of):.1f}"


def main(times, folds):
    measured = [
        ((row["kernel"], operator_of(row["kernel"], row["size"]), DEVICES[row["device"]]), float(row["time_s"]))
        for row in rows(times)
    ]
    systems = list(DEVICES.values())
    targets = {row["device"]: row["target"] for row in rows(Path(os.environ["KERNELCAST_DEVDB"], "devices.csv"))}
    operators = {operator for (_, operator, _), _ in measured}
    figures = defaultdict(dict)
    for row in rows(folds):
        figures[row["left_out"]][row["figure"]] = row["value"]
    with tempfile.TemporaryDirectory() as folder:
        kernels = {left: project(operators, systems, database(folder, figures[left])) for left in ["", *figures]}
        kernels["bmm, kernels"] = project(
            operators, systems, database(folder, figures["bmm"], lambda row: row["operation"] != "gemm_batch")
        )
        for device in systems:
            foreign = database(folder, figures[device], lambda row: targets[device] not in row["target"].split(";"))  # noqa: B023
            kernels[f"{device}, kernels"] = project(operators, systems, foreign)
        roofline = project(operators, systems, database(folder, None))
    shortest = {
        (kernel, device): min(seconds for (one, _, of), seconds in measured if (one, of) == (kernel, device))
        for kernel in OPERATORS
        for device in DEVICES.values()
    }
    everything = [(kernel, device) for kernel in OPERATORS for device in DEVICES.values()]
    others = {key: host(shortest, *key, lambda operator, _: operator != key[0]) for key in everything}  # noqa: B023
    elsewhere = {key: host(shortest, *key, lambda _, system: system != key[1]) for key in everything}  # noqa: B023

    def left_out(choose, hosts):
        """Each row by the fold that its operator or device is left out of."""
        chosen = {
            (operator, device): kernels[choose(operator.kernel, device) if choose(operator.kernel, device) in kernels else ""][
                operator, device
            ]
            for operator in operators
            for device in systems
        }
        return errors(measured, chosen, hosts)

    tables = {
        "operator left out": left_out(lambda kernel, _: kernel, others),
        "device left out": left_out(lambda _, device: device, others),
        "device and its host left out": left_out(lambda _, device: device, elsewhere),
        "roofline": errors(measured, roofline, others),
    }
    print(f"| operator | times | {' | '.join(tables)} |\n|---|---|{'---|' * len(tables)}")
    lines = [(kernel, lambda one, _, kernel=kernel: one == kernel) for kernel in OPERATORS]
    lines += [(f"all, on {device}", lambda _, one, device=device: one == device) for device in DEVICES.values()]
    for name, wanted in [*lines, ("all", lambda *_: True)]:
        count = sum(wanted(kernel, device) for (kernel, _, device), _ in measured)
        print(f"| {name} | {count} | {' | '.join(percent(table, wanted) for table in tables.values())} |")
    unnamed = (
        left_out(lambda kernel, _: f"{kernel}, kernels" if kernel == "bmm" else kernel, others),
        left_out(lambda _, device: f"{device}, kernels", others),
    )
    for kernel in ("bmm", "linear"):
        count = sum(one == kernel for (one, _, _), _ in measured)
        found = [percent(table, lambda one, _: one == kernel) for table in unnamed]  # noqa: B023
        print(f"| {kernel}, its kernels left out, too | {count} | {' | '.join(found)} | – | – |")


def deepbench(times):
    """cuBLAS' rows are the contiguous ones: columns here. Launches were back to back."""
    known = {row["device"] for row in rows(Path(os.environ["KERNELCAST_DEVDB"], "devices.csv"))}
    measured = [
        (product("gemm", "f32", int(row["n"]), int(row["m"]), int(row["k"]), width=4), row["device"], float(row["time_s"]))
        for row in rows(times)
        if row["device"] in known
    ]
    devices = sorted({device for _, device, _ in measured})
    operators = {operator for operator, _, _ in measured}
    with tempfile.TemporaryDirectory() as folder:
        roofline = project(operators, devices, database(folder, None))
    ours = project(operators, devices, os.environ["KERNELCAST_DEVDB"])
    print("| device | times | median error, % | median ratio | roofline: median error, % |\n|---|---|---|---|---|")
    for name, wanted in [*((device, {device}) for device in devices), ("all", set(devices))]:
        of = [(ours[key] / seconds, roofline[key] / seconds) for *key, seconds in measured if key[1] in wanted for key in [tuple(key)]]
        error, other = (100 * median(abs(ratio - 1) for ratio in all_) for all_ in zip(*of))
        print(f"| {name} | {len(of)} | {error:.0f} | {median(ratio for ratio, _ in of):.2f} | {other:.0f} |")


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 2 else deepbench(*sys.argv[1:])
