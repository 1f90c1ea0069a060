"""What the tree is made of, as figures to compare before and after a change: folders, arrows, lines, the longest files.

Usage: structure.py SOURCE_DIR          tables
       structure.py SOURCE_DIR --dot    the top folders of libcore and their arrows, for dot -Tsvg
"""

import collections
import os
import re
import subprocess
import sys

from arrows import INCLUDE, LIST, listed, read, top

LONGEST = 20


def tracked(source):
    names = subprocess.run(["git", "-C", source, "ls-files"], capture_output=True, text=True, check=True).stdout
    return [n for n in names.splitlines() if os.path.isfile(os.path.join(source, n))]


def lines_of(source, names):
    return {n: read(os.path.join(source, n)).count("\n") for n in names}


def floors(arrows, folders):
    """Of each folder: 1 on the ground, else one above the highest that it includes."""
    out = {}
    for folder in folders:  # ground floor first
        out[folder] = 1 + max((out[b] for a, b in arrows if a == folder), default=0)
    return out


def table(title, rows):
    print(f"\n{title}")
    for name, *cells in rows:
        print(f"  {name:<44}" + "".join(f"{cell:>10}" for cell in cells))


def main():
    source = sys.argv[1]
    folders, arrows = listed(os.path.join(source, LIST))
    tops = [f for f in folders if top(f) == f]
    between = [(a, b) for a, b in arrows if a in tops and b in tops]
    if "--dot" in sys.argv:
        print("digraph libcore {\n  rankdir=BT; node [shape=box];")
        print("\n".join(f"  {a} -> {b};" for a, b in between))
        print("}")
        return
    cpp = lines_of(source, [n for n in tracked(source) if n.endswith((".cpp", ".hpp"))])
    of = collections.defaultdict(list)
    for name, count in cpp.items():
        parts = name.split("/")
        of["/".join(parts[:2]) if parts[0] in ("libcore", "cmd") else parts[0]].append(count)
    floor = floors(between, tops)
    rows = [(n, len(c), sum(c), floor.get(n.removeprefix("libcore/"), "")) for n, c in sorted(of.items()) if len(c) > 0]
    table("C++ by folder: files, lines, floor", rows)
    includes = [t for n in cpp if n.startswith("libcore/") for t in INCLUDE.findall(read(os.path.join(source, n)))]
    scripts = lines_of(source, [n for n in tracked(source) if n.endswith((".awk", ".sh", ".py"))])
    table("In all", [
        ("top folders of libcore", len(tops)),
        ("floors", max(floor.values())),
        ("arrows between them", len(between)),
        ("folders of libcore", len(folders)),
        ("arrows in tests/lint/arrows.txt", len(arrows)),
        ("includes within libcore", len(includes)),
        ("lines of C++", sum(cpp.values())),
        ("lines of cmd", sum(c for n, c in cpp.items() if n.startswith("cmd/"))),
        ("lines of awk, shell, Python", sum(scripts.values())),
    ])  # fmt: skip
    table("Longest files", sorted(cpp.items(), key=lambda one: -one[1])[:LONGEST])
    mains = [(n, c) for n, c in cpp.items() if re.fullmatch(r"cmd/[^/]+/main\.cpp", n)]
    table("Mains", sorted(mains, key=lambda one: -one[1]))


if __name__ == "__main__":
    main()
