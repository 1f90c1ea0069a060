#!/bin/sh
# fish.sh FOLDER: what fish offers for these command lines.
command -v fish >/dev/null || { echo "kernelcast-skipped: fish is not installed"; exit 0; }
status=0
offers() {  # FILE WANTED LINE
  found=$(fish --no-config -c "source '$1'; complete -C '$3'" | cut -f1 | tr '\n' ' ')
  case $found in *"$2"*) ;; *) echo "$3: '$found', without '$2'"; status=1 ;; esac
}
for file in "$1"/*; do fish -n "$file" || status=1; done
offers "$1/rank.fish" "--format " "rank --form"
offers "$1/rank.fish" "csv json table " "rank --format "
offers "$1/kernelcast.fish" "choose " "kernelcast cho"
offers "$1/kernelcast.fish" "--prices " "kernelcast choose --pri"
offers "$1/perfcast.fish" "gh200 " "perfcast --device gh20"
exit $status
