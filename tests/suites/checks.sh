#!/bin/sh
# checks.sh MINIEMU LAUNCH_FILE...: every launch file with all groups and all checks on. Each must end without a finding;
# what a run says of one is shown.
set -u
miniemu=$1
shift
failed=0
for file in "$@"; do
  if ! "$miniemu" "$file" --groups all --check-races --check-uninit --check-division --no-registers >/dev/null; then
    echo "in $file" >&2
    failed=1
  fi
done
exit $failed
