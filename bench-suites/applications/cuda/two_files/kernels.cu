// Kernels of their own program: this file's constants have nothing to do with main.cu's of the same name.
#include "solver.hpp"

__constant__ float softening = 0.01f;

static __device__ float3 pull(Body const& on, Body const& by, float3 sum) {
  float const dx = by.x - on.x, dy = by.y - on.y, dz = by.z - on.z;
  float const inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
  float const s = by.mass * inverse * inverse * inverse;
  return make_float3(sum.x + dx * s, sum.y + dy * s, sum.z + dz * s);
}

static __global__ void step(Body const* bodies, float3* accelerations, int n) {
  extern __shared__ Body tile[];
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  Body const own = bodies[i < n ? i : 0];
  float3 sum = make_float3(0, 0, 0);
  for (int base = 0; base < n; base += blockDim.x) {
    if (base + threadIdx.x < n) tile[threadIdx.x] = bodies[base + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < blockDim.x && base + k < n; ++k) sum = pull(own, tile[k], sum);
    __syncthreads();
  }
  if (i < n) accelerations[i] = sum;
}

void accelerate(Body const* bodies, float3* accelerations, int n) {
  step<<<(n + 63) / 64, 64, 64 * sizeof(Body)>>>(bodies, accelerations, n);
}
