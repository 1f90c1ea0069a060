#!/bin/sh
# readme.sh compare|update SOURCE PAGE…: runs the commands of the pages' blocks that say so, and compares what they print,
# or puts it into the page where it is something else.
#
# A fenced block with the info string `console test` holds commands, each behind "$ " (a backslash at the end of a line
# continues it), and below each what it prints on standard output and error. A line … stands for any number of lines, …
# inside a line for any text. A block `LANGUAGE file NAME` is a file that the commands find. The commands of a page run in
# one folder, in order, in which bench-suites is the tree's; without the CUDA toolkit, which users may not have.
set -eu
export LC_ALL=C.UTF-8 KERNELCAST_NO_CUDA=1
mode=$1 source=$2
shift 2
status=0 ran=0
for page; do
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  mkdir "$folder/run" "$folder/blocks"
  ln -s "$source/bench-suites" "$folder/run/bench-suites"
  awk -v to="$folder/blocks" -v files="$folder/run" '
    /^```/ {
      if (kind == "") {
        n = split($0, words, " ")
        kind = words[2] == "test" ? "test" : words[2] == "file" ? "file" : "other"
        if (kind == "file") name = files "/" words[3]
        if (kind == "file") printf "" > name
      } else kind = ""
      continued = 0
      next
    }
    kind == "file" { print > name }
    kind == "test" && continued { print > command; continued = /\\$/; next }
    kind == "test" && /^\$ / {
      command = sprintf("%s/%03d.command", to, ++count); expected = sprintf("%s/%03d.expected", to, count)
      print substr($0, 3) > command; printf "" > expected
      continued = /\\$/
      next
    }
    kind == "test" { print > expected }
  ' "$page"
  for command in "$folder"/blocks/*.command; do
    [ -f "$command" ] || continue
    expected=${command%.command}.expected actual=${command%.command}.actual
    exited=0
    (cd "$folder/run" && sh "$command") >"$actual" 2>&1 || exited=$?
    [ $exited = 127 ] && { cat "$actual"; exit 1; }  # no such program
    ran=$((ran + 1))
    awk -v actual="$actual" '
      function fits(text, pattern,   parts, n, i, at) {
        n = split(pattern, parts, "…")
        if (n == 1) return text == pattern
        if (substr(text, 1, length(parts[1])) != parts[1]) return 0
        text = substr(text, length(parts[1]) + 1)
        for (i = 2; i < n; ++i) {
          at = index(text, parts[i])
          if (parts[i] != "" && at == 0) return 0
          if (parts[i] != "") text = substr(text, at + length(parts[i]))
        }
        return length(text) >= length(parts[n]) && substr(text, length(text) - length(parts[n]) + 1) == parts[n]
      }
      BEGIN { while ((getline line < actual) > 0) got[++lines] = line; at = 1 }
      $0 == "…" { any = 1; next }
      {
        if (any) while (at <= lines && !fits(got[at], $0)) ++at
        any = 0
        if (at > lines || !fits(got[at], $0)) {
          printf "  - %s\n  + %s\n", $0, (at > lines ? "(nothing)" : got[at])
          failed = 1
          exit
        }
        ++at
      }
      END { if (!failed && !any && at <= lines) { printf "  + %s\n", got[at]; failed = 1 } exit failed }
    ' "$expected" >"$folder/difference" || {
      if [ "$mode" = update ]; then
        cp "$actual" "$expected"
        continue
      fi
      cat "$folder/difference"
      echo "$page: what this prints is not what the page says:"
      sed 's/^/  $ /' "$command"
      cat "$actual"
      status=1
    }
  done
  if [ "$mode" = update ]; then
    awk -v from="$folder/blocks" '
      /^```/ {
        if (kind == "") {
          split($0, words, " ")
          kind = words[2] == "test" ? "test" : "other"
        } else kind = ""
        continued = 0
      }
      kind == "test" && (continued || /^\$ /) {
        print
        if (!continued) expected = sprintf("%s/%03d.expected", from, ++count)
        if (!(continued = /\\$/)) while ((getline line < expected) > 0) print line
        next
      }
      kind != "test" || /^```/
    ' "$page" >"$folder/page"
    cmp -s "$folder/page" "$page" || cat "$folder/page" >"$page"
  fi
  rm -rf "$folder"
done
[ $ran -gt 0 ] || { echo "no command was found"; exit 1; }
[ $status = 0 ] && echo "$ran commands print what the pages say"
exit $status
