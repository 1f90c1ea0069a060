# Counts of a CUDA device against the emulator's, for every workload of the suites that needs no images and no shared
# memory as an argument. Breadth-first search is left out: which of several items visits a node is the device's choice.
# seconds: 40
set -eu
compared=0 refused=0
suites=$SOURCE/bench-suites
for suite in "$suites/polybench" "$suites/shoc"; do for case in $(sh "$suites/cases.sh" list "$suite" small); do
  case $case in bfs*) continue ;; esac
  status=0
  launches=$(sh "$suites/cases.sh" launch "$suite" "$case")
  # shellcheck disable=SC2086  # several words
  flux-count $launches $CUDA --backend cuda --quiet >cuda.csv 2>words || status=$?
  if [ $status = 5 ] && grep -q "no CUDA driver\|does not start\|no CUDA device" words; then
    head -n 1 words
    exit 77
  fi
  if [ $status = 5 ]; then
    refused=$((refused + 1))
    continue
  fi
  [ $status = 0 ] || { echo "$launches:"; cat words; exit 1; }
  # shellcheck disable=SC2086
  flux-count $launches $CUDA --quiet >emulator.csv
  for which in cuda emulator; do awk -F, '{ print $1 "," $3 "," $4 "," $5 }' $which.csv >$which.lanes; done
  diff emulator.lanes cuda.lanes || { echo "$launches differs"; exit 1; }
  compared=$((compared + 1))
done; done
echo "$compared workloads agree, $refused cannot be given to a device"
