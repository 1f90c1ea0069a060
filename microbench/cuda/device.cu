// What only CUDA can say. Counts: opencl/kernels.toml.

// Clocks of a multiprocessor and nanoseconds of the global timer around the same work: their ratio is the clock.
KERNEL void clock_rate(unsigned long long* out, uint iterations) {
  unsigned long long clock0, clock1, time0, time1;
  uint v = threadIdx.x + 1;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time0) : : "memory");
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock0) : : "memory");
  for (uint i = 0; i < iterations; ++i) v = v * v + 3;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock1) : : "memory");
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time1) : : "memory");
  out[0] = clock1 - clock0;
  out[1] = time1 - time0;
  out[2] = v;
}

// Linear memory through the texture unit, four 32-bit channels.
KERNEL void texture_read(unsigned long long object, uint* out, uint width_mask, uint height_mask, uint iterations) {
  uint const x = GLOBAL_ID;
  uint s = 0;
  for (uint i = 0; i < iterations; ++i) {
    uint const at = (x & width_mask) + ((i + x / (width_mask + 1)) & height_mask) * (width_mask + 1);
    uint a, b, c, d;
    asm volatile("tex.1d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(object), "r"(at));
    s ^= a ^ b ^ c ^ d;
  }
  out[x] = s;
}
