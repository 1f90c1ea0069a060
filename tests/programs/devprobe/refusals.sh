#!/bin/sh
# What the system does not permit: libraries and drivers that may not be read, threads that may not be pinned, memory
# that is not there. Usage: refusals.sh DEVPROBE PINNING_LIBRARY
set -u
probe=$1
pinning=$2
cd "$(mktemp -d)" || exit 2
trap 'rm -rf "$PWD"' EXIT
chmod 755 .
fail() { echo "refusals.sh: $*" >&2; exit 1; }

# Threads that go where they want: every measured row is doubtful, and says why.
OCL_ICD_VENDORS=/nowhere LD_PRELOAD=$pinning "$probe" --device cpu --quick --bench clock,facts -o rows.csv 2>message || fail "$(cat message)"
grep -q ',clock_hz,.*,doubtful,.*threads could not be held to their cores: Operation not permitted' rows.csv ||
  fail "$(cat rows.csv)"
grep -q ',compute_units,.*,ok,' rows.csv || fail "what is stated is not doubtful"

# Not enough memory: rows, not the end.
if (ulimit -v 64000 && "$probe" --version) >/dev/null 2>&1; then
  (ulimit -v 64000 && OCL_ICD_VENDORS=/nowhere "$probe" --device cpu --quick --bench global,clock -o memory.csv) 2>message || fail "$(cat message)"
  grep -q ',failed,no memory for' memory.csv || fail "$(cat memory.csv)"
  grep -q ',clock_hz,.*,ok,\|,clock_hz,.*,doubtful,' memory.csv || fail "what needs little memory is measured"
fi

# A driver whose library does not load.
mkdir vendors
echo /nowhere/libdriver.so >vendors/a.icd
OCL_ICD_VENDORS=$PWD/vendors "$probe" --device opencl 2>message
[ $? = 5 ] || fail "a driver that does not load is exit status 5: $(cat message)"
grep -q 'no OpenCL library' message || grep -q 'a.icd does not load: /nowhere/libdriver.so: cannot open' message ||
  fail "$(cat message)"

# Files that may not be read: root may read all, so as another user.
as=
if [ "$(id -u)" = 0 ]; then
  as="setpriv --reuid=65534 --regid=65534 --clear-groups"
  if ! $as env "$probe" --version >/dev/null 2>&1; then  # setpriv itself still has root's way in
    echo "kernelcast-skipped: this is root, and no other user can start $probe"
    exit 0
  fi
fi
chmod 000 vendors/a.icd
$as env OCL_ICD_VENDORS="$PWD/vendors" "$probe" --device opencl 2>message
[ $? = 5 ] || fail "a driver that may not be read is exit status 5: $(cat message)"
grep -q 'no OpenCL library' message || grep -q "no permission to read $PWD/vendors/a.icd" message || fail "$(cat message)"
rm -f vendors/a.icd
exit 0
