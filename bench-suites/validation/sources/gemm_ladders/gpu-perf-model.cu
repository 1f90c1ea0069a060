// The kernels of gpu-perf-model.
#include "gpu-perf-model/src/cuda/gemm_naive.cu"
