// Memory alone: reads and writes of global memory, coalesced and strided, and of local memory.
//
// Coalesced: in every step the work-items of the launch touch neighbouring words, then all move on together. Strided:
// every work-item has CHUNK words of its own and walks through them, so that neighbours are CHUNK words apart. A step
// is 16 words. Reads write the sum of what they read, modulo 2^32. `words` is a power of two, and for strided access
// CHUNK times the work-items.

#define UNROLL 16
#define CHUNK 1024
#define LOCAL_WORDS 2048
#define ITEMS 256

__kernel void read_global_coalesced(__global uint const* data, __global uint* sums, uint const words,
                                    uint const repeats) {
  uint const items = get_global_size(0);
  uint at = get_global_id(0), sum = 0;
  for (uint repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (uint u = 0; u < UNROLL; ++u) sum += data[(at + u * items) & (words - 1)];
    at += UNROLL * items;
  }
  sums[get_global_id(0)] = sum;
}

__kernel void read_global_strided(__global uint const* data, __global uint* sums, uint const repeats) {
  __global uint const* mine = data + CHUNK * get_global_id(0);
  uint at = 0, sum = 0;
  for (uint repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (uint u = 0; u < UNROLL; ++u) sum += mine[(at + u) & (CHUNK - 1)];
    at += UNROLL;
  }
  sums[get_global_id(0)] = sum;
}

__kernel void write_global_coalesced(__global uint* data, uint const words, uint const repeats) {
  uint const items = get_global_size(0);
  uint at = get_global_id(0);
  for (uint repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (uint u = 0; u < UNROLL; ++u) data[(at + u * items) & (words - 1)] = get_global_id(0) + repeat;
    at += UNROLL * items;
  }
}

__kernel void write_global_strided(__global uint* data, uint const repeats) {
  __global uint* mine = data + CHUNK * get_global_id(0);
  uint at = 0;
  for (uint repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (uint u = 0; u < UNROLL; ++u) mine[(at + u) & (CHUNK - 1)] = get_global_id(0) + repeat;
    at += UNROLL;
  }
}

// Every group reads the first LOCAL_WORDS words, then only local memory.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void read_local(__global uint const* data,
                                                                            __global uint* sums, uint const repeats) {
  __local uint cells[LOCAL_WORDS];
  for (uint i = get_local_id(0); i < LOCAL_WORDS; i += ITEMS) cells[i] = data[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  uint at = get_local_id(0), sum = 0;
  for (uint repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (uint u = 0; u < UNROLL; ++u) sum += cells[(at + u) & (LOCAL_WORDS - 1)];
    at += UNROLL;
  }
  sums[get_global_id(0)] = sum;
}

// A work-item writes every ITEMS-th word, over and over; then the group writes all of them to its part of `data`.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void write_local(__global uint* data, uint const repeats) {
  __local uint volatile cells[LOCAL_WORDS];
  uint at = get_local_id(0);
  for (uint repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (uint u = 0; u < UNROLL; ++u) cells[(at + u * ITEMS) & (LOCAL_WORDS - 1)] = get_global_id(0) + repeat;
    at += UNROLL * ITEMS;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < LOCAL_WORDS; i += ITEMS) data[LOCAL_WORDS * get_group_id(0) + i] = cells[i];
}
