# Compares the #include lines between the sub-folders of libcore's folders with tests/lint/arrows.txt.
# Input: that file, the paths of all C++ files below libcore, then lines `PATH:#include "…"`.
function fail(text) { print text; status = 1 }
function folder(path) { sub(/\/?[^\/]*$/, "", path); return path }
function top(path) { sub(/\/.*/, "", path); return path }

FNR == 1 { input++ }
input == 1 {
  sub(/#.*/, "")
  if (NF == 0) next
  from = $1
  if (!sub(/:$/, "", from)) fail("tests/lint/arrows.txt:" FNR ": no colon after '" $1 "'")
  for (i = 2; i <= NF; i++) {
    to = $i
    if (!sub(/^!/, "", to) && !(to in declared))
      fail("tests/lint/arrows.txt:" FNR ": '" from "' names '" to "', which does not stand above it")
    arrow[from, to] = FNR
  }
  declared[from] = FNR
  next
}
input == 2 { here = folder($1); exists[here]; if (here != top(here)) within[top(here)]; next }
{
  from = $0; sub(/:.*/, "", from)
  to = $0; sub(/^[^"]*"/, "", to); sub(/".*/, "", to)
  a = folder(from); b = folder(to)
  if (a == b || b == "" || top(a) != top(b)) next
  if ((a, b) in arrow) used[a, b]
  else fail("libcore/" from " includes " to ", and tests/lint/arrows.txt has no arrow from " a " to " b)
}
END {
  for (f in exists) if (top(f) in within) { count++; if (!(f in declared)) fail("tests/lint/arrows.txt lacks a line for " f) }
  for (f in declared) if (!(f in exists)) fail("tests/lint/arrows.txt:" declared[f] ": there is no folder " f " with C++ files")
  for (pair in arrow) if (!(pair in used)) {
    split(pair, ends, SUBSEP)
    fail("tests/lint/arrows.txt:" arrow[pair] ": no file of " ends[1] " includes one of " ends[2])
  }
  if (!status) print "includes follow the arrows between " count + 0 " sub-folders"
  exit status
}
