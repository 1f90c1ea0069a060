#!/bin/sh
# See ../tunehub/run.sh.
exec "$(dirname "$0")/../tunehub/run.sh" "$@"
