"""Of the rows of an application those of measured launches, with their kernel and case, for one launch each.

Usage: python3 match.py PROGRAM REASON MISSING NAMES MEASURED ROWS [header]

NAMES: the demangled names of the rows' kernels, line by line; MEASURED: the measured times of the suite; header: the header row,
too. A row is of a measured launch with its name, template arguments, grid and block, or with its name, grid and block
where these are of one kernel on both sides. Launches without a row are added to MISSING, with REASON.
"""

import csv
import re
import sys
from collections import Counter, defaultdict

# Columns of which all launches have what one has.
STAYS = re.compile(
    "(grid|block)_[xyz]$|groups_emulated$|shared_bytes$|registers|v?gprs_|vliw_|spread_pct$|sampling_error_pct$|"
    "global_footprint_bytes$|atomic_max_same_address$|code_slots$|group_|target$|allocated_bytes$|warp_lanes$|"
    "scratch_bytes$|library$|runs_on$|code_fetched$"
)
HISTOGRAMS = "touched_before", "matrix_flop"


def read_name(text):
    """The name and the template arguments: k and <256,1> of "void n::k<(int)256, true>(int)"."""
    text = re.sub(r"\(anonymous namespace\)::|<unnamed>::", "", text)
    if mangled := re.match(r"_ZL?(\d+)", text):  # c++filt cannot read it
        return text[mangled.end() :][: int(mangled[1])], ""
    name = arguments = ""
    depth = 0
    for c in text:
        if c == "(" and depth == 0:
            break
        depth += c == "<"
        if depth > 0:
            arguments += c
        else:
            name += c
        depth -= c == ">"
    name = re.sub(r".*( |::)", "", name)
    arguments = re.sub(r"\((unsigned )?[A-Za-z_][A-Za-z_:]*\)", "", arguments)
    arguments = arguments.replace("true", "1").replace("false", "0").replace(" ", "")
    return name, re.sub(r"(\d)[ul]+", r"\1", arguments)


def one_launch(row, kernel, case):
    """Totals over all launches of an application that has ended become those of one."""

    def share(count):
        return f"{float(count) / float(row['launches']):.15g}"

    out = dict(row, kernel=kernel, case=case, launches="1")
    for column, text in list(row.items())[3:]:
        if column in HISTOGRAMS:
            out[column] = re.sub("(?<=:)[^;]+", lambda count: share(count[0]), text)
        elif text and not STAYS.match(column) and float(row["launches"]) != 1:
            out[column] = share(text)
    return out


def read_rows(names_path, rows_path):
    """Columns; the first row of each launch, and of each with its template arguments; the kernels of each launch."""
    first, kernels = {}, defaultdict(set)
    with open(names_path, encoding="utf-8") as names, open(rows_path, newline="", encoding="utf-8") as file:
        next(names)
        reader = csv.DictReader(file)
        for row, full_name in zip(reader, names):
            name, arguments = read_name(full_name.rstrip("\n"))
            launch = name, *("x".join(row[f"{what}_{axis}"] for axis in "xyz") for what in ("grid", "block"))
            first.setdefault(launch, row)
            first.setdefault((launch, arguments), row)
            kernels[launch].add(full_name)
        return reader.fieldnames, first, kernels


def read_measured(path, program):
    """Suite, kernel, case, launch and template arguments of the program's launches."""
    out = []
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["program"] == program:
                name, arguments = read_name(row["kernel"])
                out.append((row["suite"], row["kernel"], row["case"], (name, *row["case"].split()[-2:]), arguments))
    return out


def main(program, reason, missing_path, names_path, measured_path, rows_path, header=""):
    columns, first, kernels = read_rows(names_path, rows_path)
    measured = read_measured(measured_path, program)
    count = Counter(launch for *_, launch, _ in measured)
    out = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    if header:
        out.writeheader()
    with open(missing_path, "a", newline="", encoding="utf-8") as file:
        missing = csv.writer(file, lineterminator="\n")
        for suite, kernel, case, launch, arguments in measured:
            row = first.get((launch, arguments))
            if not row and count[launch] == len(kernels[launch]) == 1:
                row = first[launch]
            if row:
                out.writerow(one_launch(row, kernel, case))
            else:
                missing.writerow([suite, kernel, case, reason])


if __name__ == "__main__":
    main(*sys.argv[1:])
