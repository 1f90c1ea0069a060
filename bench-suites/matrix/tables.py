"""The tables of this suite, from what tutorials.py, grouped.py, cutlass.sh, llmc.sh, llmc_amd.sh and projects.sh have left.

Usage: tables.py BIN RESULTS: writes RESULTS/opcodes.csv, RESULTS/kernels.csv and RESULTS/projects-table.csv
"""

import csv
import pathlib
import subprocess
import sys
from collections import defaultdict

TARGETS = ["sm_80", "sm_90a", "sm_100a", "sm_120a"]
DEVICES = {"a100": "sm_80", "h100": "sm_90a", "b200": "sm_100a", "rtx5090": "sm_120a", "mi300x": "gfx942"}


def table(path):
    try:
        with open(path, newline="") as file:
            return list(csv.DictReader(file))
    except FileNotFoundError:
        return []


def opcodes(bin, results):
    programs = {row["program"]: row["target"] for row in table(results / "cutlass.csv")}
    groups = defaultdict(list)
    for target in TARGETS:
        groups["Triton's tutorials", target] += sorted((results / "triton" / target).glob("*/kernel.ptx"))
    for name, target in programs.items():
        if (results / "cutlass" / name / "app").exists():
            groups["CUTLASS's examples", target].append(results / "cutlass" / name / "app")
    groups["llm.c", "sm_80"] += sorted(p for p in (results / "llmc").glob("*") if p.is_file() and not p.suffix)
    with open(results / "opcodes.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(
            ["kernels of", "target", "kernels", "opcodes", "of matrices", "refused", "with a refused one", "reason"]
        )
        for (group, target), paths in groups.items():
            if not paths:
                continue
            listed = subprocess.run([bin / "matrix_opcodes", group, *paths], capture_output=True, text=True, check=True)
            rows = list(csv.reader(listed.stdout.splitlines()))
            kernels = {(row[1], row[2]) for row in rows}
            words = {row[3] for row in rows}
            matrix = {
                w
                for w in words
                if w.split(".")[0] in ("mma", "wmma", "wgmma", "tcgen05", "ldmatrix", "stmatrix", "movmatrix")
            }
            refused = {row[3] for row in rows if row[4]}
            reasons = sorted({row[4] for row in rows if row[4]})
            hit = {(row[1], row[2]) for row in rows if row[4]}
            out.writerow(
                [
                    group,
                    target,
                    len(kernels),
                    len(words),
                    len(matrix),
                    len(refused),
                    len(hit),
                    "; ".join(reasons) or "–",
                ]
            )


def limiters(bin, rows, devices):
    """What limits a row on each of these devices: {device: limiter}."""
    if not rows:
        return {}
    text = ",".join(rows[0]) + "\n"
    for row in rows:
        text += ",".join('"' + value.replace('"', '""') + '"' for value in row.values()) + "\n"
    run = subprocess.run(
        [bin / "perfcast", "--device", ",".join(devices), "-"], input=text, capture_output=True, text=True
    )
    found = {}
    for row in csv.DictReader(run.stdout.splitlines()):
        if row["status"] in ("ok", "unvalidated"):
            found[row["device"]] = row["limiter"]
        else:
            found[row["device"]] = row["reason"].split(";")[0]
    return found


def work(row):
    return (
        float(row["matrix_flop"].rsplit(":", 1)[-1]) if row.get("matrix_flop") else 0,
        float(row["inst_total"] or 0),
    )


def largest(path):
    """The row of the launch that multiplies most, or else executes most."""
    rows = table(path)
    return [max(rows, key=work)] if rows else []


def kernels(bin, results):
    with open(results / "kernels.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["kernel", *TARGETS, *DEVICES, "ms a group, s a program"])

        def row(name, status, found, time):
            out.writerow([name, *(status.get(t, "–") for t in TARGETS), *(found.get(d, "–") for d in DEVICES), time])

        statuses, times = defaultdict(dict), defaultdict(list)
        for entry in table(results / "triton.csv"):
            statuses[entry["kernel"]][entry["target"]] = entry["status"]
            if entry["s_per_group"]:
                times[entry["kernel"]].append(float(entry["s_per_group"]) * 1000)
        rows = table(results / "triton-rows.csv")
        for name, status in statuses.items():
            found = {}
            for device, target in DEVICES.items():
                own = [
                    r
                    for r in rows
                    if r["name"] == name
                    and (r["target"] == target if target == "gfx942" else r["variant"] == target and not r["target"])
                ]
                found.update(limiters(bin, own, [device]))
            row("Triton: " + name, status, found, f"{max(times[name]):.1f} ms" if times[name] else "–")
        status, found = {}, {}
        for entry in table(results / "grouped.csv"):
            status[entry["target"]] = entry["status"]
            device = {t: d for d, t in DEVICES.items()}[entry["target"]]
            found.update(limiters(bin, largest(results / f"grouped-{entry['target']}.csv"), [device]))
            seconds = float(entry["s"])
        if status:
            row("Triton: grouped matmul", status, found, f"{seconds:.1f} s")
        for entry in table(results / "cutlass.csv"):
            target = entry["target"]
            own = [d for d, t in DEVICES.items() if t == target]
            found = (
                limiters(bin, largest(results / "cutlass" / (entry["program"] + ".csv")), own)
                if entry["status"] == "ok"
                else {}
            )
            row(
                "CUTLASS: " + entry["program"],
                {target: entry["status"]},
                found,
                f"{float(entry['s']):.1f} s" if entry["s"] else "–",
            )
        programs = defaultdict(list)
        for entry in table(results / "llmc.csv"):
            programs[entry["program"]].append(entry)
        for program, entries in programs.items():
            name = program
            good = [e for e in entries if e["status"] == "ok"]
            bad = [f"{e['kernel']}: {e['status']}" for e in entries if e["status"] != "ok"]
            last = good[-1]["kernel"] if good else ""
            found = (
                limiters(bin, largest(results / "llmc" / f"{program}-{last}.csv"), ["a100", "h100", "b200", "rtx5090"])
                if good
                else {}
            )
            amd = results / "llmc" / (program + "-gfx942.csv")
            found |= limiters(bin, largest(amd), ["mi300x"]) if amd.exists() else {}
            text = "; ".join(["ok" if not bad else f"{len(good)} of {len(entries)} ok", *bad])
            name += f" ({len(entries)})" if len(entries) > 1 else ""
            row("llm.c: " + name, {"sm_80": text}, found, f"{float(entries[-1]['s'] or 0):.1f} s")


def projects(bin, results):
    with open(results / "projects-table.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["project", "program", "target", "kernels", "opcodes", "refused", "status", "limited by", "s"])
        for entry in table(results / "projects.csv"):
            app = results / "projects" / entry["program"] / "app"
            words, refused, names = set(), set(), set()
            if app.exists():
                listed = subprocess.run([bin / "matrix_opcodes", "x", app], capture_output=True, text=True, check=True)
                for row in csv.reader(listed.stdout.splitlines()):
                    names.add(row[2])
                    words.add(row[3])
                    if row[4]:
                        refused.add(row[3])
            found = limiters(bin, largest(results / "projects" / (entry["program"] + ".csv")), [entry["device"]])
            out.writerow(
                [
                    entry["project"],
                    entry["program"],
                    entry["target"],
                    len(names),
                    len(words),
                    len(refused),
                    entry["status"],
                    found.get(entry["device"], "–"),
                    f"{float(entry['s']):.1f}" if entry["s"] else "–",
                ]
            )


if __name__ == "__main__":
    bin, results = map(pathlib.Path, sys.argv[1:])
    opcodes(bin, results)
    kernels(bin, results)
    projects(bin, results)
