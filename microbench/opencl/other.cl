// Atomics, constant memory, and kernels whose launch is all there is to them. Counts: kernels.toml.
KERNEL void empty(GLOBAL uint* out, uint never) {
  if (never) out[GLOBAL_ID] = never;
}

// spread 0: all on one word; else each item on a word of its own.
KERNEL void atomic_global(GLOBAL uint* counters, uint spread, uint iterations) {
  uint const at = GLOBAL_ID * spread;
  for (uint i = 0; i < iterations; ++i) ATOMIC_ADD(&counters[at], i | 1);
}

KERNEL void atomic_shared(GLOBAL uint* out, uint iterations SCRATCH_ARGUMENT) {
  if (LOCAL_ID == 0) SCRATCH[0] = 0;
  BARRIER;
  for (uint i = 0; i < iterations; ++i) ATOMIC_ADD_SHARED(&SCRATCH[0], i | 1);
  BARRIER;
  out[GLOBAL_ID] = SCRATCH[0];
}

// One address for all items at a time.
KERNEL void constant_read(CONSTANT_TABLE GLOBAL uint* out, uint iterations) {
  uint s0 = 0, s1 = 0;
  for (uint i = 0; i < iterations; ++i) {
    uint const at = (i * 8) & 2047;
    s0 ^= TABLE[at] + i;
    s1 += TABLE[at + 1] ^ i;
    s0 ^= TABLE[at + 2] + i;
    s1 += TABLE[at + 3] ^ i;
    s0 ^= TABLE[at + 4] + i;
    s1 += TABLE[at + 5] ^ i;
    s0 ^= TABLE[at + 6] + i;
    s1 += TABLE[at + 7] ^ i;
  }
  out[GLOBAL_ID] = s0 + s1;
}
