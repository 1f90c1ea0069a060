#!/bin/sh
# slurm.sh SOURCE BIN: the recipe for Slurm on a cluster of three nodes, all on this machine, one of which is lost with its task
# in the middle. The task is requeued, goes on at another node, and the rows are those of one run.
#
# The cluster is munged, slurmctld and three slurmd (which must be built with multiple-slurmd, as Debian's is), with a
# configuration, keys and ports of its own. Each daemon is in a PID namespace, so that killing it kills what it has started.
PATH=$PATH:/usr/sbin
for program in munged slurmctld slurmd sbatch scontrol sinfo squeue; do
  command -v $program >/dev/null || { echo "kernelcast-skipped: $program is not installed"; exit 0; }
done
namespace="unshare --pid --fork --kill-child --mount-proc"
[ "$(id -u)" = 0 ] && $namespace true 2>/dev/null ||
  { echo "kernelcast-skipped: PID namespaces need root"; exit 0; }
. "$(dirname "$0")/common.sh"
cluster=$folder/slurm

free_ports() {  # so many
  awk -v wanted="$1" -v seed="$$" '
    { split($2, at, ":"); used[at[length(at)]] = 1 }
    END {
      srand(); srand(srand() + seed)
      for (port = 20000 + int(rand() * 10000); wanted > 0; ++port)
        if (!(sprintf("%04X", port) in used)) { print port; --wanted }
    }' /proc/net/tcp /proc/net/tcp6 2>/dev/null
}

start() {  # name, command: in a namespace whose first process takes in what loses its parent
  name=$1
  shift
  $namespace sh -c '"$@" & wait' sh "$@" >"$folder/$name.log" 2>&1 &
  eval "pid_$name=$!"
}
lose() {  # a daemon and all that it has started
  eval "pid=\${pid_$1:-}"
  [ -n "$pid" ] || return 0
  kill -KILL "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  eval "pid_$1="
}
stop() {
  for name in n1 n2 n3 slurmctld munged; do lose $name; done
}

start_cluster() {
  mkdir -p "$cluster/state" "$cluster/n1" "$cluster/n2" "$cluster/n3"
  chmod -R go-w "$folder"
  chmod 755 "$folder"
  head -c 1024 /dev/urandom >"$cluster/munge.key"
  chmod 400 "$cluster/munge.key"
  start munged munged --foreground --force --key-file "$cluster/munge.key" --socket "$cluster/munge.socket" \
    --pid-file "$cluster/munge.pid" --seed-file "$cluster/munge.seed"
  await "munged's socket" [ -S "$cluster/munge.socket" ]

  # shellcheck disable=SC2046  # several numbers
  set -- $(free_ports 4)
  export SLURM_CONF="$cluster/slurm.conf"
  host=$(uname -n | cut -d . -f 1)
  cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$1
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/munge.socket,cred_expire=5
ProctrackType=proctrack/linuxproc
SchedulerType=sched/builtin
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/%n
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/%n.pid
SlurmdTimeout=15
ReturnToService=2
MailProg=/bin/true
GresTypes=gpu
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$2 CPUs=1 Gres=gpu:1
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$3 CPUs=1 Gres=gpu:1
NodeName=n3 NodeHostname=$host NodeAddr=127.0.0.1 Port=$4 CPUs=1 Gres=gpu:1
PartitionName=all Nodes=n1,n2,n3 Default=YES MaxTime=INFINITE State=UP
PartitionName=p1 Nodes=n1 MaxTime=INFINITE State=UP
PartitionName=p2 Nodes=n2 MaxTime=INFINITE State=UP
PartitionName=p3 Nodes=n3 MaxTime=INFINITE State=UP
END
  echo "Name=gpu File=/dev/null" >"$cluster/gres.conf"
  # Newer versions want cgroups of systemd unless told otherwise; older ones do not know the word.
  case $(slurmctld -V) in
    *" 2"[4-9].*) echo CgroupPlugin=disabled >"$cluster/cgroup.conf" ;;
  esac
  start slurmctld slurmctld -D
  for node in n1 n2 n3; do start $node slurmd -D -N $node; done
}

idle() {  # so many nodes are
  [ "$(sinfo --noheader --Node --states idle --format %N 2>/dev/null | sort -u | wc -l)" = "$1" ]
}
down() {  # a node is
  case $(sinfo --noheader --nodes "$1" --format %T) in down*) ;; *) return 1 ;; esac
}
task() {  # its number, then a field: NodeList or Restarts
  scontrol --oneliner show job "${job}_$1" 2>/dev/null | tr ' ' '\n' | sed -n "s/^$2=//p" | tail -n 1
}
requeued() { [ "$(task "$1" Restarts)" -ge 1 ]; }
completed() {  # so many tasks have
  [ "$(scontrol show job 2>/dev/null | grep -c JobState=COMPLETED)" = "$1" ]
}
ended() { left=$(squeue --noheader --jobs "$job") && [ -z "$left" ]; }

start_cluster
await "three nodes that are idle" idle 3
close_gate 2
job=$(sbatch --parsable array.sbatch)
await "three parts that are held" held 3
await "two tasks that have completed" completed 2
check_interrupted

lost=$(held_parts | head -n 1)
node=$(task "$lost" NodeList)
cp "parts/$lost.csv" "$folder/lost.csv"
lose "$node"
# The controller misses it after SlurmdTimeout; where that takes too long, an administrator says so.
tries=0
until down "$node"; do
  tries=$((tries + 1))
  [ $tries != 120 ] || scontrol update "NodeName=$node" State=DOWN Reason=lost
  [ $tries -lt 600 ] || fail "$node is not down"
  sleep 0.5
done
await "the lost task, requeued" requeued "$lost"
cmp "$folder/lost.csv" "parts/$lost.csv"

open_gate
await "the end of all tasks" ended
completed 8 || fail "not all tasks have completed: $(scontrol show job | grep JobState=)"
[ "$(task "$lost" NodeList)" != "$node" ] || fail "task $lost is at $node again, which is lost"
check_resumed "$lost"
kernelcast merge --parts 8 parts/*.csv -o rows.csv
check_rows

# A program between the partitions of the nodes that are left: the one with the faster GPU is busy for an hour.
application=$bin/app_jacobi
[ -x "$application" ] && "$application" >/dev/null 2>&1 || exit 0  # no OpenCL here
await "two nodes that are idle" idle 2
# shellcheck disable=SC2046  # two names
set -- $(sinfo --noheader --Node --states idle --format %N | sort -u)
busy=p${1#n} free=p${2#n} lost=p${node#n}
sbatch --parsable --partition=$busy --time=60 --gres=gpu:1 --wrap='sleep 3600' >"$folder/log"
working() { [ "$(squeue --noheader --states running --partition "$busy" | wc -l)" = 1 ]; }
await "the job that keeps a node busy" working
printf 'partition,device,options\n%s,a100,--time=5\n%s,k20,--time=5 --output=%%j.txt\nnone,h100,\n' "$busy" "$free" >partitions.csv
kernelcast submit --quiet --partitions partitions.csv -- "$application" >ends.csv 2>"$folder/submit.log"
[ "$(cut -d, -f1 ends.csv | tr '\n' ' ')" = "partition $free $busy none " ] || fail "$(cat ends.csv)"
awk -F, 'NR == 2 { bad = !($3 < 600) } NR == 3 { bad = bad || !($3 > 1800) } END { exit bad }' ends.csv || fail "$(cat ends.csv)"
grep -q '^none,.*invalid partition' ends.csv || fail "$(cat ends.csv)"
job=$(kernelcast submit --run --partitions partitions.csv -- "$application" 2>>"$folder/submit.log" | sed 's/[^0-9]//g')
await "the job that was submitted" ended
grep -q "iterations" "$job.txt" || fail "the program did not run: $(cat "$job.txt")"
echo "the sweep outlives a node, and a program runs where it ends first"
