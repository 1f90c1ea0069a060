// The kernels of mat_mat_mul as nvbench runs them.
#include "mat_mat_mul/mat_mat_mul_kernels.cuh"

using U32 = unsigned;
template __global__ void mat_mat_mul<U32>(U32*, U32*, U32*, int, int, int, int);
template __global__ void mat_mat_mul_tiles<U32>(U32*, U32*, U32*, int, int, int, int);
template __global__ void mat_mat_mul_rec_tiles<U32>(U32*, U32*, U32*, int, int, int, int);
