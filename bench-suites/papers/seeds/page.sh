#!/usr/bin/env bash
# page.sh FILE.csv: the page of a seed on stdout, with the figures that its commands print. Run in bench-suites/papers with the
# programs in PATH. A row has
#   item      table, figure, equation, algorithm, section or future work of the paper
#   says      what it says
#   paper     its figure; unit
#   within    how near ours must be, relative, for the verdict `redone`; = for equal texts; empty: judged by reading
#   command   what redoes it, from bench-suites/papers
#   here      what prints our figure after that; empty: the command itself
#   verdict   redone (shown as `redone, by reading` where nothing was compared); deviates, hardware or refused, each with the
#             reason in
#   why
# Fails where a command is dead (its program, target, option or output is missing) or where a verdict is not what the figures
# say. The command of a row that has `here` is only tried: make's by make -n, another program's words beside its help.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$here:$PATH
file=$1
failed=0
fail() { echo "$file: $item: $*" >&2; failed=1; }

# Two programs that take seconds run once for the same arguments; CACHE is a folder that several pages share.
cache=${CACHE:-$(mktemp -d)}
mkdir -p "$cache"
once() {
  local kept
  kept=$cache/$(printf '%s\037' "$@" | cksum | tr ' ' _)
  [ -e "$kept" ] || { command "$@" >"$kept.part" && mv "$kept.part" "$kept"; } || return
  cat "$kept"
}
seqprof() { once seqprof "$@"; }
flux-count() { once flux-count "$@"; }

# alive PROGRAM [WORD] [--OPTION]...: there is such a program, and its help names that word and these options.
alive() {
  local help word
  command -v "$1" >/dev/null || return
  help=$({ command "$1" --help; case ${2:-} in [a-z]*) command "$1" "$2" --help ;; esac } </dev/null 2>&1 || true)
  if [[ $help == *" --list "* ]]; then help+=$(command "$1" --list); fi
  for word in "${@:2}"; do
    case $word in
      --*) ;;
      *) [ "$word" = "$2" ] && [[ $word =~ ^[a-z-]+$ ]] || continue ;;
    esac
    grep -qE -e "(^|[^a-z-])${word%%=*}([^a-z-]|$)" <<<"$help" || return
  done
}

rows=$(awk -f "$here/../../csv.awk" -f "$here/rows.awk" "$file")
head=$(dirname "$file")/$(basename "$file" .csv).head.md
cat "$head"
echo
echo "| item | the paper says | paper | here | verdict | command |"
echo "|---|---|---|---|---|---|"
while IFS=$'\037' read -r item says paper unit within command print verdict why; do
  figure=
  if [ -n "$command" ]; then
    if [ -n "$print" ]; then
      case $command in
        make\ *) eval "make -n ${command#make }" >/dev/null 2>&1 </dev/null || fail "dead command: $command" ;;
        *) eval "alive $command" || fail "dead command: $command" ;;
      esac
    fi
    figure=$(eval "${print:-$command}" </dev/null 2>"/tmp/page.$$") || fail "failed: ${print:-$command}: $(cat "/tmp/page.$$")"
    rm -f "/tmp/page.$$"
    [ -n "$figure" ] || fail "no figure: ${print:-$command}"
  fi
  case $verdict in
    redone | deviates) [ -n "$command" ] || fail "a verdict without a command" ;;
    hardware | refused) ;;
    *) fail "unknown verdict '$verdict'" ;;
  esac
  [ "$verdict" = redone ] || [ -n "$why" ] || fail "no reason"
  if [ -n "$within" ]; then
    agrees=$(awk -v a="$figure" -v b="$paper" -v w="$within" 'BEGIN {
      if (w == "=") print a == b; else { d = a - b; s = b; print (d < 0 ? -d : d) <= w * (s < 0 ? -s : s) } }')
    [ "$agrees" = "$([ "$verdict" = redone ] && echo 1 || echo 0)" ] ||
      fail "the verdict is $verdict, the paper has $paper, ours is $figure (within $within)"
  fi
  case $verdict$within in redone) verdict="redone, by reading" ;; esac
  figure=${figure//$'\n'/; }
  shown=${command//|/\\|}
  echo "| $item | $says | $paper${unit:+ $unit} | ${figure//|/\\|}${figure:+${unit:+ $unit}} | $verdict${why:+: $why} | ${shown:+\`$shown\`} |"
done <<<"$rows"
exit $failed
