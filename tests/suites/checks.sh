#!/bin/sh
# checks.sh MINIEMU SUITE...: every case of the suites' small size with all groups and all checks on. Each must end without
# a finding; what a run says of one is shown.
set -u
miniemu=$1
shift
cases=$(dirname "$0")/../../bench-suites/cases.sh
failed=0
for suite in "$@"; do
  for name in $(sh "$cases" list "$suite" small); do
    # shellcheck disable=SC2046  # several words
    if ! "$miniemu" $(sh "$cases" launch "$suite" "$name") --groups all --check-races --check-uninit --check-division \
      --no-registers >/dev/null; then
      echo "in $name" >&2
      failed=1
    fi
  done
done
exit $failed
