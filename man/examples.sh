#!/bin/sh
# examples.sh FILE…: every command of ours in a fenced block of these pages has options that its program knows.
set -eu
export LC_ALL=C
helps=$(mktemp -d)
trap 'rm -rf "$helps"' EXIT

commands() {  # one per line, of what stands between ``` lines
  awk '/^ *```/ { fenced = !fenced; inside = fenced && !/mermaid/; next }
    inside {
      sub(/^ *\$ /, ""); sub(/ # .*/, ""); sub(/ +#$/, "")
      if (sub(/ *\\+$/, "")) { held = held $0 " "; next }
      $0 = held $0; held = ""
      n = split($0, parts, / *(\||&&|;) */)
      for (i = 1; i <= n; ++i) print parts[i]
    }' "$1"
}

help_of() {  # program, its first word: the file that holds its options, one per line
  case $1 in mangrove | kernelcast) verb=$2 ;; *) verb= ;; esac
  file=$helps/$1$verb
  [ -f "$file" ] || "$1" $verb --help 2>/dev/null | grep -oE '(^|[ ,])--?[A-Za-z][A-Za-z-]*' | tr -d ' ,' | sort -u >"$file"
  echo "$file"
}

status=0 checked=0
for page; do
  commands "$page" >"$helps/commands"
  while read -r program words; do
    case $program in
    akemu | devprobe | execcost | figure | flux-count | kernelcast | kernelcast-advise | mangrove | miniemu | partfit | partsim | perdome | perfcast | rank | seqprof) ;;
    *) continue ;;
    esac
    options=$(help_of "$program" "${words%% *}")
    checked=$((checked + 1))
    set -f
    for word in $words; do
      [ "$word" = -- ] && break
      case $word in
      --*) name=${word%%=*} ;;
      -[A-Za-z]*) name=$(printf '%.2s' "$word") ;;
      *) continue ;;
      esac
      grep -qx -e "$name" "$options" || { echo "$page: $program has no option $name: $program $words"; status=1; }
    done
    set +f
  done <"$helps/commands"
done
[ $checked -gt 0 ] || { echo "no command was found"; exit 1; }
[ $status = 0 ] && echo "options of $checked commands are known"
exit $status
