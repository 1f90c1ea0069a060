// Shared memory over occupancy and bank conflicts: item i begins at word i * stride. Counts: kernels.toml.
//
// The words of the work-group are a power of two; all items move on together, so that the conflict stays.
#define AHEAD 8  // accesses of an iteration; so many words lie beyond the power of two

KERNEL void shared_read(GLOBAL const uint* in, GLOBAL uint* out, uint words, uint stride, uint iterations
                        SCRATCH_ARGUMENT) {
  uint const me = LOCAL_ID, mask = words - 1;
  for (uint i = me; i < words + AHEAD; i += LOCAL_SIZE) SCRATCH[i] = in[i];
  BARRIER;
  uint at = (me * stride) & mask;
  uint s0 = 0, s1 = 0;
  for (uint i = 0; i < iterations; ++i) {
    s0 ^= SCRATCH[at];
    s1 += SCRATCH[at + 1];
    s0 ^= SCRATCH[at + 2];
    s1 += SCRATCH[at + 3];
    s0 ^= SCRATCH[at + 4];
    s1 += SCRATCH[at + 5];
    s0 ^= SCRATCH[at + 6];
    s1 += SCRATCH[at + 7];
    at = (at + AHEAD) & mask;
  }
  out[GLOBAL_ID] = s0 + s1;
}

KERNEL void shared_write(GLOBAL const uint* in, GLOBAL uint* out, uint words, uint stride, uint iterations
                         SCRATCH_ARGUMENT) {
  uint const me = LOCAL_ID, mask = words - 1;
  uint at = (me * stride) & mask;
  uint const value = in[me];
  for (uint i = 0; i < iterations; ++i) {
    SCRATCH[at] = value + i;
    SCRATCH[at + 1] = value;
    SCRATCH[at + 2] = value + i;
    SCRATCH[at + 3] = value;
    SCRATCH[at + 4] = value + i;
    SCRATCH[at + 5] = value;
    SCRATCH[at + 6] = value + i;
    SCRATCH[at + 7] = value;
    at = (at + AHEAD) & mask;
  }
  BARRIER;
  out[GLOBAL_ID] = SCRATCH[me & mask];
}

// A chain of loads: each needs the one before. The words hold a cycle.
KERNEL void shared_chase(GLOBAL const uint* in, GLOBAL uint* out, uint words, uint iterations SCRATCH_ARGUMENT) {
  for (uint i = LOCAL_ID; i < words; i += LOCAL_SIZE) SCRATCH[i] = in[i];
  BARRIER;
  uint at = LOCAL_ID;
  for (uint i = 0; i < iterations; ++i) {
    at = SCRATCH[at];
    at = SCRATCH[at];
    at = SCRATCH[at];
    at = SCRATCH[at];
  }
  out[GLOBAL_ID] = at;
}
