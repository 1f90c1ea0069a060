"""What the tree is made of, as figures to compare before and after a change: folders, arrows, lines, the longest files.

Usage: structure.py SOURCE_DIR            tables
       structure.py SOURCE_DIR --update   draws the two pictures of CONTRIBUTING.md anew: programs and the records that they
                                          exchange, from the mains; top folders of libcore, from arrows.txt
       structure.py SOURCE_DIR --check    compares them
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


def functions(source, names):
    """Lines of each function that begins at the margin, as .clang-format has it."""
    out = []
    for name in names:
        start = None
        for number, line in enumerate(read(os.path.join(source, name)).splitlines(), 1):
            if start is None and re.match(r"[A-Za-z][^=]*\{$", line) and not re.match(r"(namespace|struct|class|enum|union|extern)\b", line):
                start = number, line
            elif start and line.startswith("}"):
                text = re.search(r"([\w:~]+)\(", start[1])
                out.append((f"{name}: {text[1] if text else start[1][:30]}", number - start[0] + 1))
                start = None
    return out


def table(title, rows):
    print(f"\n{title}")
    for name, *cells in rows:
        print(f"  {name:<64}" + "".join(f"{cell:>10}" for cell in cells))


def chain(source):
    """Programs and the records that they exchange, as Mermaid draws it."""
    reads, writes = {}, {}
    for name in tracked(source):
        program = name.split("/")[1] if re.fullmatch(r"cmd/[^/]+/[^/]+\.cpp", name) else "kernelcast"
        if program != "kernelcast":  # which starts the others
            text = read(os.path.join(source, name))
            for key, of in (("input", reads), ("output", writes)):
                for records in re.findall(rf"\.{key} = \{{([^}}]*)\}}", text):
                    of.setdefault(program, set()).update(re.findall(r"record::(\w+)::schema", records))
    # What each model writes is a projection to those that read it.
    alike = {"ForestProjection": "Projection", "Emulation": "Projection", "ExecutionCost": "Projection"}
    lines = ["flowchart LR"]
    for giver in sorted(writes):
        for taker in sorted(reads):
            both = {alike.get(r, r) for r in writes[giver]} & reads[taker] if giver != taker else ()
            if both:
                lines.append(f"  {giver} -->|{', '.join(sorted(r.lower() for r in both))}| {taker}")
    return "\n".join(lines)


def layers(source):
    """Top folders of libcore: arrows that others do not imply."""
    folders, arrows = listed(os.path.join(source, LIST))
    to = {f: {b for a, b in arrows if a == f and top(b) == b} for f in folders if top(f) == f}
    below = {}
    for folder in to:  # ground floor first
        below[folder] = set().union(*({b} | below[b] for b in to[folder])) if to[folder] else set()
    lines = ["flowchart TD"]
    for folder in to:
        needed = {b for b in to[folder] if not any(b in below[c] for c in to[folder])}
        lines += [f"  {folder} --> {b}" for b in sorted(needed)]
    return "\n".join(lines)


def pictures(source, text):
    for name, draw in (("programs", chain), ("folders", layers)):
        begin, end = f"<!-- {name}: drawn by tests/lint/structure.py -->\n", "<!-- end -->"
        head, _, rest = text.partition(begin)
        text = head + begin + f"```mermaid\n{draw(source)}\n```\n" + end + rest.partition(end)[2]
    return text


def main():
    source = sys.argv[1]
    if len(sys.argv) > 2:
        path = os.path.join(source, "CONTRIBUTING.md")
        before = read(path)
        after = pictures(source, before)
        if sys.argv[2] == "--update":
            with open(path, "w", encoding="utf-8") as file:
                file.write(after)
        elif after != before:
            sys.exit("CONTRIBUTING.md draws other arrows than there are: python3 tests/lint/structure.py . --update")
        return
    folders, arrows = listed(os.path.join(source, LIST))
    tops = [f for f in folders if top(f) == f]
    between = [(a, b) for a, b in arrows if a in tops and b in tops]
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
    long = functions(source, [n for n in cpp if n.startswith(("libcore/", "cmd/"))])
    table("Longest functions of libcore and cmd", sorted(long, key=lambda one: -one[1])[:LONGEST])
    mains = [(n, c) for n, c in cpp.items() if re.fullmatch(r"cmd/[^/]+/main\.cpp", n)]
    table("Mains", sorted(mains, key=lambda one: -one[1]))


if __name__ == "__main__":
    main()
