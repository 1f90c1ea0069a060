"""Includes of libcore follow the arrows.

1. tests/lint/arrows.txt lists the top folders of libcore, ground floor first, then those within each: `FOLDER: those that it
   includes`. A line names only what stands above it; `!FOLDER` breaks that order, and the reason stands beside it.
2. What a folder with a CMakeLists.txt of its own includes of another is among what that file names: DEPENDS,
   kernelcast::NAME, or a source file of the other, directly or through the folders named there.
3. A program includes nothing of another.

Usage: arrows.py SOURCE_DIR. Says what is wrong, and exits with 1.
"""

import collections
import os
import re
import sys

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]*)"', re.MULTILINE)
LIST = "tests/lint/arrows.txt"

wrong = []


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def cpp_files(root):
    """Paths below root."""
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith((".cpp", ".hpp")):
                yield os.path.relpath(os.path.join(folder, name), root)


def top(folder):
    return folder.split("/")[0]


def listed(path):
    """Folders and arrows of the list, with their lines."""
    folders, arrows = {}, {}
    for number, line in enumerate(read(path).splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        folder = words[0].rstrip(":")
        if not words[0].endswith(":"):
            wrong.append(f"{LIST}:{number}: no colon after '{folder}'")
        for word in words[1:]:
            to = word.lstrip("!")
            if to == word and to not in folders:
                wrong.append(f"{LIST}:{number}: '{folder}' names '{to}', which does not stand above it")
            arrows[folder, to] = number
        folders[folder] = number
    return folders, arrows


def check_list(path, files, includes):
    folders, arrows = listed(path)
    exist = {os.path.dirname(f) for f in files} | {top(f) for f in files}
    used = set()
    for file, to in includes:
        ends = os.path.dirname(file), os.path.dirname(to)
        if top(ends[0]) != top(ends[1]):
            ends = top(ends[0]), top(ends[1])
        if ends[0] == ends[1] or ends[1] not in exist:
            continue
        used.add(ends)
        if ends not in arrows:
            wrong.append(f"libcore/{file} includes {to}, and {LIST} has no arrow from {ends[0]} to {ends[1]}")
    wrong.extend(f"{LIST} lacks a line for {f}" for f in sorted(exist - folders.keys()))
    wrong.extend(f"{LIST}:{folders[f]}: there is no folder {f} with C++ files" for f in sorted(folders.keys() - exist))
    wrong.extend(f"{LIST}:{n}: no file of {a} includes one of {b}" for (a, b), n in arrows.items() if (a, b) not in used)
    return len(exist)


def check_cmake(root, files, includes):
    texts = {}
    for folder, _, names in os.walk(root):
        if "CMakeLists.txt" in names:
            text = re.sub(r"#.*", "", read(os.path.join(folder, "CMakeLists.txt")))
            texts[os.path.relpath(folder, root)] = text

    def owner(path):
        folder = os.path.dirname(path)
        while folder and folder not in texts:
            folder = os.path.dirname(folder)
        return folder

    makes = {}
    for folder, text in texts.items():
        for name in re.findall(r"(?:kernelcast_library|kernelcast_llvm_plugin)\(\s*([a-z_]+)", text):
            makes[name] = folder

    def named(folder):
        text = texts[folder]
        for names in re.findall(r"DEPENDS\s+([a-z_\s]*)", text):
            yield from (makes[name] for name in names.split() if name in makes)
        yield from (makes[name] for name in re.findall(r"kernelcast::([a-z_]+)", text) if name in makes)
        for path in re.findall(r"(?:\.\./)+[a-z_/]+/", text):
            yield owner(os.path.normpath(os.path.join(folder, path)) + "/x")

    reach = {}
    for folder in texts:
        seen, todo = set(), [folder]
        while todo:
            one = todo.pop()
            if one in texts and one not in seen:
                seen.add(one)
                todo.extend(named(one))
        reach[folder] = seen
    missing = collections.defaultdict(list)
    for file, to in includes:
        a, b = owner(file), owner(to)
        if a and b and os.path.exists(os.path.join(root, to)) and b not in reach[a]:
            missing[a, b].append(file)
    for (a, b), those in sorted(missing.items()):
        wrong.append(f"libcore/{a} includes {b}/, which its CMakeLists.txt does not name: {those[0]}")


def check_programs(root):
    for file in cpp_files(root):
        for to in INCLUDE.findall(read(os.path.join(root, file))):
            if to.startswith(("../", "cmd/")):
                wrong.append(f"cmd/{file}: a program includes something from outside its folder and the library: {to}")


def main():
    source = sys.argv[1]
    root = os.path.join(source, "libcore")
    files = sorted(cpp_files(root))
    includes = [(f, to) for f in files for to in INCLUDE.findall(read(os.path.join(root, f)))]
    folders = check_list(os.path.join(source, LIST), files, includes)
    check_cmake(root, files, includes)
    check_programs(os.path.join(source, "cmd"))
    print("\n".join(wrong) if wrong else f"includes follow the arrows of {folders} folders")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
