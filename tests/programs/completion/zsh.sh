#!/bin/sh
# zsh.sh FOLDER: zsh reads these files, and its completion system takes them for the programs.
command -v zsh >/dev/null || { echo "kernelcast-skipped: zsh is not installed"; exit 0; }
status=0
for file in "$1"/*; do zsh -fn "$file" || status=1; done
zsh -fc "fpath=('$1' \$fpath); autoload -Uz compinit; compinit -D -u
  for program in rank perfcast kernelcast; do [[ \$_comps[\$program] == _\$program ]] || { echo \"\$program: \$_comps[\$program]\"; exit 1; }; done" || status=1
exit $status
