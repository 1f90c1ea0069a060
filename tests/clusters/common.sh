# What the tests of this folder share, read with `.` by `test.sh SOURCE BIN`: a folder of the test's own with the recipes of
# bench-suites/clusters, where everything is that a tool writes, and a gate that stops a sweep in its middle on a
# machine of any speed.
#
# The gate: clang-19 is found on PATH as a script that waits as long as the file `gate` is there, if the miniemu that calls
# it has written a point of its part; all but the first N parts, N being in `gate`. So N parts are done, others are in their
# middle, and stay there until they are killed or the gate is removed.
set -eu
source=$1 bin=$2
skip() {
  echo "kernelcast-skipped: $*"
  exit 0
}
clang=$(command -v clang-19 || echo /usr/lib/llvm-19/bin/clang-19)
[ -x "$clang" ] || skip "clang-19 is not installed"

folder=$(mktemp -d)
mkdir "$folder/bin" "$folder/gates" "$folder/home" "$folder/tmp"
for suite in clusters tunable; do cp -r "$source/bench-suites/$suite" "$folder/"; done
export HOME="$folder/home" XDG_CACHE_HOME="$folder/cache" TMPDIR="$folder/tmp" PATH="$folder/bin:$bin:$PATH"
cd "$folder/clusters"

cat >"$folder/bin/clang-19" <<END
#!/bin/sh
# clang-19, behind the gate of the test. The last argument of the miniemu that calls it is its output.
cd "$folder/gates"
command=\$(tr '\\0' '\\n' </proc/\$PPID/cmdline)
part=\$(echo "\$command" | tail -n 1)
number=\${part##*/} number=\${number%%.*}
! echo "\$command" | grep -qx -e --resume || : >"$folder/resumed.\$number"
if passes=\$(cat gate 2>/dev/null); then
  if mkdir "known.\$number" 2>/dev/null; then
    while [ "\$passes" -gt 0 ]; do
      if mkdir "pass.\$passes" 2>/dev/null; then : >"passes.\$number"; break; fi
      passes=\$((passes - 1))
    done
  fi
  if [ ! -e "passes.\$number" ] && [ -e "$folder/clusters/\$part" ]; then
    : >"held.\$number"
    while [ -e gate ]; do sleep 0.1; done
  fi
fi
cd "\$OLDPWD"
exec "$clang" "\$@"
END
chmod +x "$folder/bin/clang-19"

fail() {
  echo "$*" >&2
  exit 1
}

open_gate() { rm -rf "$folder"/gates/*; }
close_gate() { echo "$1" >"$folder/gates/gate"; }  # behind so many parts
held() {  # at least so many parts
  wanted=$1
  set -- "$folder"/gates/held.*
  [ -e "$1" ] && [ $# -ge "$wanted" ]
}

held_parts() { ls "$folder/gates" | sed -n 's/^held\.//p'; }
check_resumed() {  # parts
  for part; do [ -e "$folder/resumed.$part" ] || fail "part $part has begun anew"; done
}

# Waits until a command succeeds, at most ten minutes; what for, command.
await() {
  what=$1 tries=0
  shift
  until "$@"; do
    tries=$((tries + 1))
    [ $tries -lt 3000 ] || fail "ten minutes have passed: $what"
    sleep 0.2
  done
}

# All processes of a session, and none that has left it. (A shell's own words would do for its children alone.)
in_session() {
  for stat in /proc/[0-9]*/stat; do
    line=$(cat "$stat" 2>/dev/null) || continue
    pid=${line%% *}
    set -- ${line##*) }  # state, parent, group, session
    if [ "$4" = "$session" ] && [ "$1" != Z ]; then echo "$pid"; fi
  done
}
start_session() {  # command; its output goes to the file log. A shell has commands in the
  # background ignore SIGINT
  env --default-signal=INT setsid "$@" >>"$folder/log" 2>&1 &
  session=$!
}
kill_session() {
  [ -n "${session:-}" ] || return 0
  while left=$(in_session) && [ -n "$left" ]; do
    # shellcheck disable=SC2086  # several numbers
    kill -KILL $left 2>/dev/null || true
    sleep 0.1
  done
  wait "$session" 2>/dev/null || true
}
interrupt_session() {  # as a terminal does, which sends SIGINT to the group in its foreground
  kill -INT "-$session"
  wait "$session" 2>/dev/null || true
  session=
}

points() { cat parts/*.csv parts/*.growing 2>/dev/null | grep -c ^convolution, || true; }
all_points=24

check_interrupted() {
  now=$(points)
  [ "$now" -gt 0 ] && [ "$now" -lt $all_points ] || fail "$now points of $all_points: it was not interrupted in its middle"
}

# What the recipe has made, beside one run, whose kernels are in the cache by now.
check_rows() {
  miniemu sweep.toml -o one.csv
  [ "$(grep -c ^convolution, one.csv)" = $all_points ] || fail "the sweep has other points than $all_points"
  cmp one.csv rows.csv
}

finish() {
  status=$?
  set +e
  trap - EXIT INT TERM HUP
  trap '' PIPE  # the folder goes, too, if its logs have no reader
  open_gate
  stop
  if [ $status != 0 ]; then
    for log in "$folder"/log "$folder"/*.log; do
      [ ! -s "$log" ] || { echo "-- ${log##*/}" && tail -n 40 "$log"; } >&2
    done
  fi
  cd /
  for try in 1 2 3 4 5; do  # what was killed may still be writing
    rm -rf "$folder" 2>/dev/null && break
    sleep "$try"
  done
  exit $status
}
stop() { kill_session; }  # a test may have more to stop
trap finish EXIT
trap 'exit 1' INT TERM HUP
