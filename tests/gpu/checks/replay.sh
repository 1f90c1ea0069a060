# The emulator's own tests on the device: their launches are recorded and repeated there, and every byte is compared. What
# differs stays listed: atomic operations whose old values depend on the order of items, bits that PTX leaves open (NaNs,
# approximations, fields of more than 64 bits), fragments of wmma, textures. SECONDS_OF_REPLAY limits the time (default 40):
# a launch takes 0.2 s to compile, so that the records, thousands, are taken in an order at random.
# seconds: 60
. "$SOURCE/tests/gpu/probe.sh"
KERNELCAST_RECORD_LAUNCHES=records test_emulator >tests.log || { tail -n 5 tests.log; exit 1; }
target=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)a
parts=100 status=0
for part in $(seq 0 $((parts - 1)) | shuf --random-source=tests.log); do
  [ "$(($(date +%s) - $(stat -c %Y tests.log)))" -lt "${SECONDS_OF_REPLAY:-40}" ] || break
  gpu_replay --target "$target" --part "$part/$parts" --differences "$RESULTS/replay" records >>replay.csv || status=$?
  [ $status -le 1 ] || { tail -n 1 replay.csv; exit $status; }
done
cp replay.csv "$RESULTS/"
awk -F, '$2 == "differs" || $2 == "failed"' replay.csv
awk -F, '{ n[$2]++ } END { print n["equal"] + 0 " launches equal, " n["differs"] + 0 " differ, " n["failed"] + 0 " failed, " n["refused"] + 0 " refused"
  exit n["equal"] < 10 * (n["differs"] + n["failed"]) }' replay.csv
