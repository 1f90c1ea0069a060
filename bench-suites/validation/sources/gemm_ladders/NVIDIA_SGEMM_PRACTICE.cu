// The kernels of NVIDIA_SGEMM_PRACTICE with the parameters that its runner gives them.
#include "NVIDIA_SGEMM_PRACTICE/src/kernel.cuh"
template __global__ void mysgemm_v2<32>(int, int, int, float, float *, float *, float, float *);
template __global__ void mysgemm_v3<64, 64, 8, 8>(int, int, int, float, float *, float *, float, float *);
template __global__ void mysgemm_v4<128, 128, 8, 8, 8>(int, int, int, float, float *, float *, float, float *);
template __global__ void mysgemm_v5<128, 128, 8, 8, 8>(int, int, int, float, float *, float *, float, float *);
template __global__ void mysgemm_v6<128, 128, 8, 8, 8>(int, int, int, float, float *, float *, float, float *);
template __global__ void mysgemm_v7<128, 128, 8, 8, 8>(int, int, int, float, float *, float *, float, float *);
