#!/bin/sh
# Usage: submit.sh KERNELCAST APPLICATION. A program between partitions whose queues a stand-in for sbatch knows: an old
# device that is free, a new one that is not, and a partition that Slurm refuses. tests/clusters has the real one.
set -eu
kernelcast=$1 application=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache" POCL_CACHE_DIR="$folder/pocl" TZ=UTC
"$application" >/dev/null 2>&1 || { [ $? = 77 ] && echo "kernelcast-skipped: no OpenCL device"; exit; }
cd "$folder"
fail() { echo "$1" >&2; exit 1; }
cat >partitions.csv <<'CSV'
partition,device,gres,options
new,A100,gpu:a100:1,--time=10 --comment='two words'
gone,h100,,
old,k20,,
CSV

status=0
PATH=/nonexistent "$kernelcast" submit --partitions partitions.csv -- "$application" 2>err >out || status=$?
[ $status = 5 ] && grep -q "'sbatch' is not on PATH" err || fail "without Slurm: $status $(cat err)"
[ ! -s out ] || fail "without Slurm there is output"

mkdir bin
cat >bin/sbatch <<'SH'
#!/bin/sh
for word in "$@"; do
  case $word in
  --partition=*) partition=${word#*=} ;;
  --test-only) test=1 ;;
  --comment=*) [ "$word" = "--comment=two words" ] || exit 9 ;;
  esac
done
case $partition in
gone) echo "sbatch: error: invalid partition specified: gone" >&2; exit 1 ;;
new) start=2099-01-01T00:00:00 ;;
old) start=2000-01-01T00:00:00 ;; # it starts at once
esac
if [ -n "${test-}" ]; then
  echo "sbatch: Job 3 to start at $start using 1 processors on nodes n1 in partition $partition" >&2
else
  echo "Submitted batch job 7"
  printf '%s\n' "$@" >submitted
fi
SH
chmod +x bin/sbatch
PATH="$folder/bin:$PATH"
"$kernelcast" submit --quiet --partitions partitions.csv -- "$application" "an argument" >rows.csv 2>err ||
  fail "$(cat err)"
[ "$(cut -d, -f1,2 rows.csv | tr '\n' ' ')" = "partition,device old,k20 new,a100 gone,h100 " ] || fail "$(cat rows.csv)"
awk -F, 'NR == 2 { bad = $3 != 0 || $4 <= 0 || $7 != $4 }
         NR == 3 { bad = bad || $3 < 1e9 || $7 < $3 }
         NR == 4 { bad = bad || $3 != "" || $4 <= 0 || $7 != "" || $9 !~ /invalid partition/ }
         END { exit bad }' rows.csv || fail "$(cat rows.csv)"
grep -q -- "--gres=gpu:a100:1 --time=10 '--comment=two words' '--wrap=" rows.csv || fail "$(cat rows.csv)"
[ ! -e submitted ] || fail "a job was submitted without --run"

"$kernelcast" submit --run --partitions partitions.csv -- "$application" "an argument" >out 2>err || fail "$(cat err)"
grep -q "^Submitted batch job 7" out || fail "$(cat out)"
[ "$(head -1 submitted)" = --partition=old ] && grep -q -- "^--wrap=.*'an argument'" submitted || fail "$(cat submitted)"

status=0 # a program that is not there: nothing else is said, nothing submitted
rm submitted
"$kernelcast" submit --run --partitions partitions.csv -- ./nothing >out 2>err || status=$?
[ $status = 4 ] && [ ! -e submitted ] && [ "$(grep -c error err)" = 1 ] || fail "$status $(cat err)"
echo "the first end is chosen"
