// Kernels whose time is a formula of latencies, gaps and bandwidth. See ../README.md.

// links[i] points to the element `stride` further on.
__kernel void link(__global ulong* links, uint n, uint stride) {
  uint const i = get_global_id(0);
  links[i] = (ulong)(links + (i + stride) % n);
}

// Pointer chase: steps x latency.
__kernel void chase(__global ulong* links, uint rounds) {
  __global ulong* at = links;
  for (uint r = 0; r < rounds; ++r) {
#pragma unroll
    for (int step = 0; step < 64; ++step) at = (__global ulong*)*at;
  }
  links[0] = (ulong)at;
}

// STREAM's copy: bytes / bandwidth.
__kernel void copy(__global float const* restrict x, __global float* restrict y, uint rounds) {
  uint const width = get_global_size(0);
  uint i = get_global_id(0);
  for (uint r = 0; r < rounds; ++r) {
#pragma unroll
    for (int part = 0; part < 8; ++part) y[i + part * width] = x[i + part * width];
    i += 8 * width;
  }
}

// One chain of dependent multiply-adds: steps x latency.
__kernel void fma_chain(__global float* out, uint rounds, float a, float b) {
  float sum = a;
  for (uint r = 0; r < rounds; ++r) {
#pragma unroll
    for (int step = 0; step < 256; ++step) sum = fma(sum, a, b);
  }
  out[get_global_id(0)] = sum;
}

// Eight chains in every work-item: instructions x gap.
__kernel void fma_many(__global float* out, uint rounds, float a, float b) {
  float s0 = a, s1 = a + 1, s2 = a + 2, s3 = a + 3, s4 = a + 4, s5 = a + 5, s6 = a + 6, s7 = a + 7;
  for (uint r = 0; r < rounds; ++r) {
#pragma unroll
    for (int step = 0; step < 64; ++step) {
      s0 = fma(s0, a, b);
      s1 = fma(s1, a, b);
      s2 = fma(s2, a, b);
      s3 = fma(s3, a, b);
      s4 = fma(s4, a, b);
      s5 = fma(s5, a, b);
      s6 = fma(s6, a, b);
      s7 = fma(s7, a, b);
    }
  }
  out[get_global_id(0)] = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7;
}

// Reads of shared memory `stride` words apart: reads x conflict degree x gap.
__kernel void ladder(__global float* out, uint rounds, uint stride) {
  __local float words[1024 + 64];
  uint const lane = get_local_id(0);
  for (uint i = lane; i < 1024 + 64; i += get_local_size(0)) words[i] = i;
  barrier(CLK_LOCAL_MEM_FENCE);
  volatile __local float* const from = words + (lane & 31) * stride;
  float sum = 0;
  for (uint r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 64; k += 8) {
      float const v0 = from[k], v1 = from[k + 1], v2 = from[k + 2], v3 = from[k + 3];
      float const v4 = from[k + 4], v5 = from[k + 5], v6 = from[k + 6], v7 = from[k + 7];
      sum += ((v0 + v1) + (v2 + v3)) + ((v4 + v5) + (v6 + v7));
    }
  }
  out[get_global_id(0)] = sum;
}

// One lane of each 32 adds to its group's word, or to the first one: updates of an address x a clock.
__kernel void count(__global uint* words, uint between) {
  if (get_local_id(0) % 32 == 0) atomic_inc(words + get_group_id(0) * between);
}
