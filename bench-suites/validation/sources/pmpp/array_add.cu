// The kernels of array_add as nvbench runs them.
#include "array_add/array_add_kernels.cuh"

template __global__ void array_add_coalesced<float>(float*, float*, float*, int, int);
template __global__ void array_add_not_coalesced<float>(float*, float*, float*, int, int);
