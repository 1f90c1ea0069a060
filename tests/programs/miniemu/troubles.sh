#!/bin/sh
# Usage: troubles.sh MINIEMU TROUBLES KIND STATUS ROWS [WORDS]. The application prints and returns the same with the layer
# as without; STATUS is what it returns; there are ROWS whole rows; WORDS stand on stderr. `terminated` and `abandoned`
# are what happens to the runner of the kind `waits`.
set -eu
miniemu=$1 app=$2 kind=$3 want=$4 rows=$5 words=${6:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export XDG_CACHE_HOME="$folder/cache" POCL_CACHE_DIR="$folder/pocl"
fail() { echo "$1"; cat attached.err; exit 1; }
wait_for() { until grep -q "$1" "$2" 2>/dev/null; do kill -0 $! 2>/dev/null || fail "no '$1' in $2"; sleep 0.05; done; }
ends() { while kill -0 "$1" 2>/dev/null; do sleep 0.05; done; }

run=$kind
case $kind in terminated | abandoned) run=waits; touch go-on ;; esac
status=0
"$app" $run >plain.out 2>plain.err || status=$?
if [ $status = 77 ]; then echo "kernelcast-skipped: no OpenCL device"; exit 0; fi
status=0
case $kind in
terminated) # the request to end is passed on, and what was launched is still reported
  rm go-on
  "$miniemu" --attach --no-registers -o rows.csv -- "$app" waits >attached.out 2>attached.err &
  wait_for ready attached.out
  kill -TERM $!
  wait $! || status=$?
  head -n 2 plain.out >plain.part
  mv plain.part plain.out
  ;;
abandoned) # the runner is gone, the application goes on
  rm go-on
  "$miniemu" --attach --no-registers -o rows.csv -- sh -c "echo \$\$ >pid; exec '$app' waits" >attached.out 2>attached.err &
  wait_for ready attached.out
  wait_for , rows.csv # what is known by then stays
  kill -KILL $!
  wait $! || status=$?
  touch go-on
  ends "$(cat pid)"
  ;;
*)
  "$miniemu" --attach --no-registers -o rows.csv -- "$app" "$kind" >attached.out 2>attached.err || status=$?
  ;;
esac
cmp plain.out attached.out || fail "the output differs"
[ $status = "$want" ] || fail "status $status, not $want"
have=$(awk 'END { print NR ? NR - 1 : 0 }' rows.csv)
[ "$have" -ge "$rows" ] || fail "$have rows, not $rows"
awk -F, 'NR == 1 { n = NF } NF != n { exit 1 }' rows.csv || fail "a row is not whole"
case $(cat attached.err) in *"$words"*) ;; *) fail "stderr lacks '$words'" ;; esac
echo "$kind: status $status, $have rows"
