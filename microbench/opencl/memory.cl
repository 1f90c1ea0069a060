// Memory: every word of a pattern once. Also read as CUDA, after cuda/words.cu. Counts: kernels.toml.
//
// Macros: WORD (uint, uint2, uint4); STRIDED or SCATTERED or none (coalesced); BLOCKED where an item walks a range of
// its own, which suits CPUs, else items take turns. `bits`: the working set has 2^bits words.

// Where the i-th access goes: every 2^shift-th word, and the words left out in the rounds after it; or a permutation
// of [0, 2^bits) without pattern.
INLINE uint place(uint i, uint bits, uint shift) {
#if defined(STRIDED)
  return ((i << shift) & ((1u << bits) - 1)) + (i >> (bits - shift));
#elif defined(SCATTERED)
  uint const mask = (1u << bits) - 1;
  uint h = (i * 0x9E3779B1u) & mask;
  h ^= h >> (bits / 2);
  return (h * 0x85EBCA6Bu) & mask;
#else
  return i;
#endif
}

#if defined(BLOCKED)
#define FOR_EACH_ACCESS(body)                                     \
  uint const each = count / GLOBAL_SIZE;                          \
  uint const begin = first + GLOBAL_ID * each;                    \
  for (uint i = begin; i < begin + each; ++i) { body(i) }
#else  // four accesses on their way at a time
#define FOR_EACH_ACCESS(body)                                                             \
  uint const step = GLOBAL_SIZE;                                                          \
  for (uint i = first + GLOBAL_ID; i < first + count; i += 4 * step) {                    \
    body(i) body(i + step) body(i + 2 * step) body(i + 3 * step)                          \
  }
#endif

KERNEL void global_read(GLOBAL const WORD* in, GLOBAL uint* out, uint bits, uint shift, uint first, uint count
                        SCRATCH_ARGUMENT) {
  USE_SCRATCH
  WORD sum = ZERO(WORD);
#define READ(i) sum = sum ^ in[place(i, bits, shift)];
  FOR_EACH_ACCESS(READ)
  uint const folded = FOLD(sum);
  if (folded == 0x55555555u) out[GLOBAL_ID] = folded;
}

KERNEL void global_write(GLOBAL WORD* out, uint bits, uint shift, uint first, uint count, uint value
                         SCRATCH_ARGUMENT) {
  USE_SCRATCH
#define WRITE(i) out[place(i, bits, shift)] = SPLAT_WORD(value + (i));
  FOR_EACH_ACCESS(WRITE)
}

KERNEL void global_copy(GLOBAL const WORD* in, GLOBAL WORD* out, uint bits, uint shift, uint first, uint count
                        SCRATCH_ARGUMENT) {
  USE_SCRATCH
#define COPY(i) out[place(i, bits, shift)] = in[place(i, bits, shift)];
  FOR_EACH_ACCESS(COPY)
}
