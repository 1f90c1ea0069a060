# PTX counts beside what Nsight Compute reads of the machine code: single-precision additions, products and fused
# multiply-adds are the same, one by one; all instructions are printed beside each other.
# seconds: 10
set -eu
command -v nvcc >/dev/null || { echo "no nvcc"; exit 77; }
command -v ncu >/dev/null || { echo "no ncu (Nsight Compute)"; exit 77; }
nvcc -std=c++17 -gencode arch=compute_75,code=compute_75 -cudart shared -o saxpy "$SOURCE/tests/programs/flux-count/apps/saxpy.cu"
./saxpy >alone || { cat alone; echo "no device"; exit 77; }
flux-count --attach --emit groups -o groups.csv -- ./saxpy >/dev/null
flux-count --attach -o counts.csv -- ./saxpy >/dev/null
m=smsp__sass_thread_inst_executed_op
status=0
ncu --csv --page raw --print-units base --log-file ncu.csv \
  --metrics ${m}_fadd_pred_on.sum,${m}_fmul_pred_on.sum,${m}_ffma_pred_on.sum,smsp__thread_inst_executed_pred_on.sum \
  ./saxpy >words 2>&1 || status=$?
if grep -q ERR_NVGPUCTRPERM words ncu.csv; then
  echo "this user may not read the device's counters (ERR_NVGPUCTRPERM)"
  exit 77
fi
[ $status = 0 ] || { cat words ncu.csv; exit 1; }
grep '^"' ncu.csv >rows.csv
awk -f "$SOURCE/bench-suites/csv.awk" -f "$SOURCE/tests/gpu/ncu.awk" groups.csv counts.csv rows.csv
