// A random cycle through memory: each load needs the one before. One work-item. Counts: kernels.toml.
KERNEL void chase(GLOBAL const uint* next, GLOBAL uint* at, uint iterations) {
  uint p = at[0];
  for (uint i = 0; i < iterations; ++i) {
    p = next[p];
    p = next[p];
    p = next[p];
    p = next[p];
    p = next[p];
    p = next[p];
    p = next[p];
    p = next[p];
  }
  at[0] = p;
}
