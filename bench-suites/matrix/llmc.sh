#!/bin/sh
# llm.c's kernels (dev/cuda), each file with its own check against the processor, run on the emulator.
# Usage: llmc.sh LLMC BIN RESULTS: writes RESULTS/llmc.csv (program,kernel,status,s) and RESULTS/llmc/PROGRAM-KERNEL.csv, records
# of miniemu. Sizes are smaller (one sequence of 128 tokens, 1024 words, 768 channels) and nothing is repeated, but the kernels are as they
# are. The second kernel of fused_residual_forward needs a multiple of 1024 tokens, which it has in its own size.
set -eu
llmc=$1 bin=$2 results=$3
build=$results/llmc
mkdir -p "$build"
echo program,kernel,status,s >"$results/llmc.csv"
cp "$llmc"/dev/cuda/common.h "$build"
for program in ${PROGRAMS:-adamw attention_forward crossentropy_forward crossentropy_softmax_backward encoder_backward \
  encoder_forward fused_residual_forward gelu_backward gelu_forward global_norm layernorm_backward layernorm_forward \
  matmul_backward_bias permute residual_forward softmax_forward trimat_forward}; do
  tokens=128
  [ "$program" != fused_residual_forward ] || tokens=1024
  sed 's/int B = [0-9]*;/int B = 1;/; s/int T = [0-9]*;/int T = '$tokens';/; s/int V = 50257;/int V = 1024;/; s/int C = 1600;/int C = 768;/
       s/repeat_times = [0-9]*/repeat_times = 1/; s/num_parameters = [0-9]*/num_parameters = 16384/' \
    "$llmc/dev/cuda/$program.cu" >"$build/$program.cu"
  if ! nvcc -O3 --use_fast_math -std=c++17 -arch=sm_80 -cudart shared -I"$build" -o "$build/$program" "$build/$program.cu" \
    -lcublas -lcublasLt >"$build/$program.log" 2>&1; then
    echo "$program,,does not compile: $(grep -m1 -o 'error.*' "$build/$program.log" | tr ',"' ';')," >>"$results/llmc.csv"
    continue
  fi
  kernels=$(sed -n 's/.*case \([0-9]*\):.*/\1/p' "$build/$program.cu" | sort -n -u)
  for kernel in ${kernels:-1}; do
    rows=$build/$program-$kernel.csv
    status=0 begin=$(date +%s.%N)
    timeout "${LIMIT:-300}" "$bin/miniemu" --attach --as a100 --no-registers --quiet -o "$rows" -- \
      "$build/$program" "$kernel" >"$build/$program-$kernel.out" 2>"$build/$program-$kernel.err" || status=$?
    # A number of another list of the file.
    ! grep -q "Invalid kernel number" "$build/$program-$kernel.out" "$build/$program-$kernel.err" || continue
    case $status in
      0) text=ok ;;
      124) text="not within ${LIMIT:-300} s" ;;
      *) text=$(cat "$build/$program-$kernel.err" "$build/$program-$kernel.out" |
           grep -m1 -i "of its PTX\|mismatch\|assertion\|only supported\|error" |
           sed 's/.*of its PTX: //; s/; thread.*//; s/.*Assertion/assertion/; s/ at [0-9]*: CPU.*//; s/fp32Using.*/fp32/; s/ of buffer .*//' | tr ',"' ';' | cut -c1-120) ;;
    esac
    echo "$program,$kernel,${text:-status $status},$(echo "$(date +%s.%N) - $begin" | bc)" >>"$results/llmc.csv"
  done
done
