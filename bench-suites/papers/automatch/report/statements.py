"""What section IV-A and B of the paper states and profiles and projections can decide.

One line each: what it says, what comes out here, whether that agrees. Where the answer depends on what equation (4)
calls a message, both readings stand beside each other: words of 8 bytes (the default), and lines of the device, of
which each reference moves one (a file named *.line.csv). ARC1 is the i5-2400, ARC2 the i7-4700, ARC3 the C2075, ARC5
the K20X.

Usage: python3 statements.py PROFILE… cost.csv cost.line.csv
"""

import csv
import sys
from collections import Counter, defaultdict


class Profile:
    """Of a kernel: references of words by stack distance, those to cold words apart, and operations by level."""

    def __init__(self):
        self.depth = self.flop = self.cold = 0
        self.distances = Counter()
        self.levels = []

    def add(self, row):
        quantity, count = row["quantity"], float(row["count"] or 0)
        if quantity in ("depth", "flop"):
            setattr(self, quantity, count)
        elif quantity == "stack_distance" and row["granularity_bytes"] == "8":
            if row["low"]:
                self.distances[row["low"]] += count
            else:
                self.cold += count
        elif quantity == "level_profile":
            self.levels.append(count / (float(row["high"]) - float(row["low"])))

    def references(self):
        return self.cold + self.distances.total()

    def width(self):
        return self.flop / self.depth

    def streams(self):
        """The fewest distances that hold 95 % of the references, cold ones being one, at most 1000."""
        held, count, wanted = self.cold, 1, 0.95 * self.references()
        for references in sorted(self.distances.values(), reverse=True)[:999]:
            if held >= wanted:
                break
            held += references
            count += 1
        return count

    def alternates(self):
        """Whether work changes between the few of a division and the many of an update, three levels at a time."""
        pairs = list(zip(self.levels, self.levels[1:]))
        ups = sum(after > 2 * before for before, after in pairs)
        downs = sum(after < before / 2 for before, after in pairs)
        return min(ups, downs) > len(self.levels) / 5

    def ends(self):
        """Operations of a level, on average over the first and the last tenth."""
        tenth = len(self.levels) // 10
        return sum(self.levels[:tenth]) / tenth, sum(self.levels[-tenth:]) / tenth


def read(paths):
    """Profiles by kernel; projections by kernel and device, those of words and those of lines."""
    profiles, words, lines = defaultdict(Profile), {}, {}
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if "quantity" in row:
                    profiles[row["kernel"]].add(row)
                else:
                    (lines if path.endswith(".line.csv") else words)[row["kernel"], row["device"]] = row
    return profiles, words, lines


def say(section, text, got, holds, with_lines="the same", holds_with_lines=None):
    """Without the last two, no convention decides."""
    if holds_with_lines is None:
        holds_with_lines = holds
    print(f'{section},"{text}","{got}",{"yes" if holds else "NO"},"{with_lines}",{"yes" if holds_with_lines else "no"}')


def limited(projection, wanted):
    return projection["limiter"], projection["limiter"] == wanted


def on_chip(projection, of_what=""):
    pct = 100 * sum(float(projection[part] or 0) for part in ("t_comp_s", "t_fast_s")) / float(projection["time_s"])
    return f"{pct:.0f} %{of_what}", pct > 50


def picked(projections):
    arc1, arc2 = (float(projections["lud", device]["time_s"]) for device in ("i5-2400", "i7-4700"))
    return f"{1e3 * arc1:.3g} ms on ARC1 and {1e3 * arc2:.3g} on ARC2", arc2 < arc1


def say_levels(stencil, spmv, lud):
    say("IV-A", "STENCIL has few execution levels", f"{stencil.depth:.0f} levels", stencil.depth < 100)
    work = f"{stencil.width():.3g} operations"
    say("IV-A", "and a massive amount of work in every one", work, stencil.width() > 1e6)
    streams = stencil.streams()
    text = "few memory streams, after the dimensions of the grid"
    say("IV-A", text, f"{streams} distances hold 95 %", streams <= 12)
    say("IV-A", "SPMV has a relatively small number of levels", f"{spmv.depth:.0f} levels", spmv.depth < 100)
    work = f"{spmv.width():.3g} operations"
    say("IV-A", "with significantly less work than STENCIL's", work, spmv.width() < stencil.width() / 3)
    cold = f"{100 * spmv.cold / spmv.references():.0f} % of the references"
    text = "SPMV: compulsory misses dominate the memory accesses"
    say("IV-A", text, cold, spmv.cold > spmv.references() / 2)
    alternates = lud.alternates()
    text = "LUD's parallelism alternates between two bounds"
    say("IV-A", text, "it does" if alternates else "it does not", alternates)
    early, late = lud.ends()
    work = f"{early:.3g} in the first tenth; {late:.3g} in the last"
    say("IV-A", "LUD's work per level decreases down the critical path", work, early > 10 * late)
    streams = lud.streams()
    say("IV-A", "LUD has scattered memory access streams", f"{streams} distances hold 95 %", streams > 50)


def say_bounds(words, lines):
    """Of projections by kernel and device."""

    def bound(section, text, station, *at):
        say(section, text, *limited(words[at], station), *limited(lines[at], station))

    bound("IV-A", "STENCIL is bounded by the off-chip memory on ARC1", "slow_memory", "stencil", "i5-2400")
    for device, name in ("k20x", "ARC5"), ("c2075", "ARC3"):
        for kernel in "lavamd", "cutcp":
            text = f"{kernel.upper()} on {name} is bounded by compute time and on-chip memory"
            say("IV-A", text, *on_chip(words[kernel, device], " of the time"), *on_chip(lines[kernel, device]))
    bound("IV-B", "LUD is bounded by the fast memory on ARC1", "fast_memory", "lud", "i5-2400")
    bound("IV-B", "LUD is bounded by the fast memory on ARC2", "fast_memory", "lud", "i7-4700")
    text = "of the CPUs the model picks ARC2 for LUD; wrongly as measurements show"
    say("IV-B", text, *picked(words), *picked(lines))


def main(paths):
    profiles, words, lines = read(paths)
    print("section,the paper says,here (words),holds,with lines,holds")
    say_levels(profiles["stencil"], profiles["spmv"], profiles["lud"])
    say_bounds(words, lines)


if __name__ == "__main__":
    main(sys.argv[1:])
