#!/bin/sh
# See ../hecbench/run.sh.
exec "$(dirname "$0")/../hecbench/run.sh" "$@"
