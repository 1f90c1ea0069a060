// One of each family that our own CUDA header provides.
#include <assert.h>
#include <math.h>
#include <algorithm>
#include <cmath>

texture<float4, 1, cudaReadModeElementType> positions;
texture<float, 2> field;
__constant__ float table[16];

__global__ void mathematics(float* f, double* d, int* n) {
  int i = threadIdx.x;
  f[i] = sinf(f[i]) + cos(f[i]) + std::sqrt(f[i]) + powf(f[i], 2.5f) + pow(f[i], 2) + expf(table[i & 15]) + rsqrtf(f[i]);
  f[i] += __sinf(f[i]) + __expf(f[i]) + __fdividef(f[i], 3.0f) + __powf(f[i], 2.0f) + fminf(f[i], 1.0f) + abs(f[i]);
  f[i] += fmaf(f[i], f[i], 1.0f) + __fmul_rn(f[i], f[i]) + __fadd_rz(f[i], 1.0f) + erff(f[i]) + max(f[i], 1.0f);
  d[i] = sin(d[i]) + exp(d[i]) + log(d[i]) + std::sqrt(d[i]) + fma(d[i], d[i], 1.0) + __dadd_rn(d[i], 1.0) + tanh(d[i]);
  n[i] = __float2int_rn(f[i]) + __double2int_rz(d[i]) + __popc(n[i]) + __clz(n[i]) + __ffs(n[i]) + __brev(n[i]) +
         __mulhi(n[i], 3) + __mul24(n[i], 5) + min(n[i], 7) + __float_as_int(f[i]) + __byte_perm(n[i], 1, 0x3210);
  float s, c;
  sincosf(f[i], &s, &c);
  f[i] += s * c + isnan(f[i]);
}

__global__ void cooperation(int* n, unsigned* u, unsigned long long* w, float* f, double* d) {
  extern __shared__ int dynamic[];
  atomicAdd(n, 1); atomicSub(n, 1); atomicMin(n, 3); atomicMax(n, 4); atomicExch(n, 5); atomicCAS(n, 5, 6);
  atomicAnd(n, 7); atomicOr(n, 8); atomicXor(n, 9); atomicInc(u, 10); atomicDec(u, 11); atomicAdd(u, 1u);
  atomicAdd(w, 1ull); atomicMax(w, 2ull); atomicCAS(w, 1ull, 2ull); atomicAdd(f, 1.0f); atomicAdd(d, 1.0);
  atomicExch(f, 2.0f); atomicAdd(&dynamic[0], 1);
  int v = n[threadIdx.x];
  v += __shfl_sync(~0u, v, 1) + __shfl_up_sync(~0u, v, 1) + __shfl_xor_sync(~0u, v, 2) + __shfl_down_sync(~0u, v, 1);
  v += __ballot_sync(~0u, v) + __any_sync(~0u, v) + __all_sync(~0u, v) + __syncthreads_count(v) + __syncthreads_or(v);
  __threadfence(); __threadfence_block(); __syncwarp();
  v += __ldg(n + 1) + (int)clock();
  float4 p = tex1Dfetch(positions, v);
  f[threadIdx.x] = p.x + tex2D(field, 1.0f, 2.0f) + make_float2(1, 2).y;
  assert(v != 12345);
  if (v == 0) printf("%d %f\n", v, p.x);
  n[threadIdx.x] = v + dynamic[1];
}
