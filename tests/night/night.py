"""make night: the checks that are too long for every change, in shares of the hours that a machine has.

    night.py HOURS [--parts NAME,NAME] [--totals FILE]

Each part has its share of the time; what one leaves goes to those after it. Runs add up in FILE (tests/night/totals.csv):
part, what it ran, how often, failures, seconds, and the date of the last run. What a part cannot end in a night goes on
in the next: `inject` takes the table it has not had for longest, `sanitizers` a part of the tests in turn, the fuzz
targets keep what they found in build-fuzz. Exit status 1 where something failed: build-night has what each part printed.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import csv
import datetime
import os
import re
import subprocess
import sys
import time
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
LOGS = TREE / "build-night"
FIELDS = ["part", "what", "unit", "done", "failures", "seconds", "last"]
JOBS = os.cpu_count() or 1


class Totals:
    def __init__(self, path: Path):
        self.path = path
        self.rows: dict[tuple[str, str], dict[str, str]] = {}
        if path.exists():
            with path.open(newline="") as file:
                for row in csv.DictReader(file):
                    self.rows[row["part"], row["what"]] = row
        self.failures = 0

    def add(self, part: str, what: str, unit: str, done: int, failures: int, seconds: float) -> None:
        """Adds to a row, and writes all: a night that is cut short leaves what it did."""
        row = self.rows.setdefault((part, what), dict.fromkeys(FIELDS, "0"))
        row.update(part=part, what=what, unit=unit, last=datetime.date.today().isoformat())
        row["done"] = str(int(row["done"]) + done)
        row["failures"] = str(int(row["failures"]) + failures)
        row["seconds"] = str(int(row["seconds"]) + round(seconds))
        self.failures += failures
        new = self.path.with_suffix(".new")
        with new.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows[key] for key in sorted(self.rows))
        new.replace(self.path)
        print(f"{part} {what}: {done} {unit}, {failures} failures, {seconds:.0f} s", flush=True)

    def last(self, part: str, what: str) -> str:
        return self.rows.get((part, what), {}).get("last", "")


def run(name: str, command: list[str], limit: float = 0, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Status and output of a command, which is ended at its limit (status 124); its log is build-night/NAME.log."""
    log = LOGS / f"{name}.log"
    words = ["timeout", "-k", "20", str(max(1, int(limit))), *command] if limit > 0 else command
    with log.open("w") as file:
        status = subprocess.run(
            words, cwd=TREE, stdout=file, stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})}
        ).returncode
    return status, log.read_text(errors="replace")


def build(preset: str, *targets: str) -> None:
    for command in (
        [] if (TREE / f"build-{preset}" / "build.ninja").exists() else ["cmake", "--preset", preset],
        ["cmake", "--build", "--preset", preset, "-j", str(JOBS), *(["--target", *targets] if targets else [])],
    ):
        if command and run(f"build-{preset}", command)[0] != 0:
            sys.exit(f"night: error: {' '.join(command)} failed\nhint: {LOGS}/build-{preset}.log")


def fuzzed(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Executions, crashes and seconds of each target, of all runs of tests/fuzz/run.sh in a build folder."""
    path = folder / "fuzz.csv"
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row["target"]: (int(row["executions"]), int(row["crashes"]), int(row["seconds"]))
                for row in csv.DictReader(file)}


def fuzz(totals: Totals, seconds: float) -> None:
    """Half of the time without the address sanitizer, which executes several times as much; then what that found, and
    more, with it: a corpus that both share."""
    for preset in ("fuzz-fast", "fuzz"):
        build(preset, "fuzz-targets")
    for preset in ("fuzz-fast", "fuzz"):
        folder = TREE / f"build-{preset}"
        before = fuzzed(folder)
        names = [line.split()[0] for line in (folder / "fuzz_targets.txt").read_text().splitlines()]
        each = max(1, int(seconds / 2 * JOBS / len(names)))
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:  # a target has one processor
            for name in names:
                pool.submit(run, f"{preset}-{name}", ["sh", "tests/fuzz/run.sh", folder.name, str(each), name],
                            environment={"FUZZ_CORPUS": "build-fuzz/corpus"})
        for name, after in fuzzed(folder).items():
            executions, crashes, took = (now - then for now, then in zip(after, before.get(name, (0, 0, 0))))
            totals.add(preset, name, "executions", executions, crashes, took)


def kernels(totals: Totals, seconds: float) -> None:
    begin = time.monotonic()
    status, text = run("kernels", ["build/bin/differential", "--seed", str(time.time_ns() // 1_000_000 * 1000),
                                   "--keep", str(LOGS), "--seconds", str(int(seconds))])
    found = re.search(r"(\d+) kernels, .*: (\d+) differ", text)
    done, differ = map(int, found.groups()) if found else (0, 1)
    totals.add("kernels", "against PoCL", "kernels", done, max(differ, int(status != 0)), time.monotonic() - begin)


def torture(totals: Totals, seconds: float) -> None:
    begin = time.monotonic()
    _, text = run("torture", ["build/bin/torture", "--seed", str(time.time_ns()), "--seconds", str(int(seconds))],
                  environment={"BIN": f"{TREE}/build/bin", "SOURCE": str(TREE),
                               "TABLES": f"{TREE}/tests/conduct/tools"})
    rows = re.findall(r"^(\S+) +(\d+) +(\d+) +(\d+)$", text, re.M)
    took = time.monotonic() - begin
    for name, _, kills, failures in rows:
        totals.add("torture", name, "kills", int(kills), int(failures), took / len(rows))
    if not rows:
        totals.add("torture", "torture", "kills", 0, 1, took)


def inject(totals: Totals, seconds: float) -> None:
    end = time.monotonic() + seconds
    tables = [*TREE.glob("tests/inject/tools/*.conduct"), *TREE.glob("tests/conduct/tools/*.conduct")]
    environment = {"BIN": f"{TREE}/build/bin", "SOURCE": str(TREE),
                   "PRELOAD": f"{TREE}/build/lib/libinject_preload.so"}
    for table in sorted(tables, key=lambda table: (totals.last("inject", table.stem), table.stem)):
        begin = time.monotonic()
        if begin >= end:
            return
        status, text = run(f"inject-{table.stem}", ["build/bin/inject", str(table)], end - begin, environment)
        rows = re.findall(r"^[^, ]+,[^,]+,\d+,(\d+),(\d+)$", text, re.M)
        points, failures = (sum(int(row[i]) for row in rows) for i in (0, 1))
        broken = status not in (0, 124)  # a table that the night cuts short counts with the kinds that it ended
        totals.add("inject", table.stem, "points", points, max(failures, int(broken)), time.monotonic() - begin)


def sanitizers(totals: Totals, seconds: float) -> None:
    for preset in ("asan", "tsan"):
        build(preset)
        begin = time.monotonic()
        listed = subprocess.run(["ctest", "--preset", preset, "-N"], cwd=TREE, capture_output=True, text=True).stdout
        count = int(re.findall(r"Total Tests: (\d+)", listed)[-1])
        place = LOGS / f"{preset}.next"
        first = int(place.read_text()) if place.exists() else 1
        step = max(1, count // 20)
        while time.monotonic() - begin < seconds / 2:
            last = min(first + step - 1, count)
            started = time.monotonic()
            _, text = run(preset, ["ctest", "--preset", preset, "-j", str(JOBS), "-I", f"{first},{last}"])
            failed = re.search(r"(\d+) tests failed out of (\d+)", text)
            failures, done = map(int, failed.groups()) if failed else (last - first + 1, last - first + 1)
            totals.add("sanitizers", preset, "tests", done, failures, time.monotonic() - started)
            first = 1 if last == count else last + 1
            place.write_text(f"{first}\n")


def validation(totals: Totals, seconds: float) -> None:
    begin = time.monotonic()
    folder = TREE / "bench-suites/validation"
    for table in folder.glob("measured/*.csv"):
        table.touch()
    status, _ = run("validation", ["make", "-C", str(folder), f"-j{JOBS}", f"BIN={TREE}/build/bin"], seconds)
    if status == 124:
        return
    changed = subprocess.run(["git", "diff", "--name-only", "--", "bench-suites/validation", "devdb"], cwd=TREE,
                             capture_output=True, text=True).stdout.split()
    (LOGS / "validation.changed").write_text("".join(name + "\n" for name in changed))
    totals.add("validation", "tables from their sources", "runs", 1, int(status != 0 or bool(changed)),
               time.monotonic() - begin)


# What each may take of the night, in the order in which they run.
PARTS = {"fuzz": (fuzz, 0.4), "kernels": (kernels, 0.12), "torture": (torture, 0.12), "inject": (inject, 0.16),
         "validation": (validation, 0.05), "sanitizers": (sanitizers, 0.15)}


def main() -> int:
    options = argparse.ArgumentParser(prog="night", description="the long checks, in shares of some hours")
    options.add_argument("hours", type=float)
    options.add_argument("--parts", default=",".join(PARTS), help="only these: " + ", ".join(PARTS))
    options.add_argument("--totals", type=Path, default=TREE / "tests/night/totals.csv")
    chosen = options.parse_args()
    names = [name for name in PARTS if name in chosen.parts.split(",")]
    unknown = set(chosen.parts.split(",")) - set(PARTS)
    if unknown or not names or not chosen.hours > 0:
        options.error(f"parts are {', '.join(PARTS)}, and hours are more than 0")
    LOGS.mkdir(exist_ok=True)
    if not set(names) <= {"fuzz", "sanitizers"} and run("build", ["make", "build"])[0] != 0:
        sys.exit(f"night: error: make build failed\nhint: {LOGS}/build.log")
    totals = Totals(chosen.totals)
    end = time.monotonic() + 3600 * chosen.hours
    left = sum(PARTS[name][1] for name in names)
    for name in names:
        part, share = PARTS[name]
        seconds = (end - time.monotonic()) * share / left
        left -= share
        if seconds > 0:
            part(totals, seconds)
    print(f"{totals.failures} failures; {totals.path} has the totals", flush=True)
    return int(totals.failures > 0)


if __name__ == "__main__":
    sys.exit(main())
