// Radix sort of n unsigned keys, four bits a pass, stable; a pass is three launches: how often each digit occurs in
// each region, where each region's keys of each digit begin, and moving the keys there.
//
// A group has one region, whole tiles of 1024 keys (the last may be shorter): a work-item has four neighbouring keys of
// a tile. Counts of two digits share a word, so that eight scans over the group rank sixteen digits. counts[digit *
// regions + region]. Groups of 256.

#define ITEMS 256
#define DIGITS 16
#define PAIRS 8

uint region_keys(uint n) {
  uint const tiles = (n + 4 * ITEMS - 1) / (4 * ITEMS);
  return 4 * ITEMS * ((tiles + get_num_groups(0) - 1) / get_num_groups(0));
}

uint digit_of(uint key, uint shift) {
  return (key >> shift) & (DIGITS - 1);
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void sort_count(__global uint const* keys,
                                                                            __global uint* counts, uint const n,
                                                                            uint const shift) {
  __local uint histogram[DIGITS];
  uint const item = get_local_id(0);
  uint const region = region_keys(n);
  uint const end = min(n, region * ((uint)get_group_id(0) + 1));
  if (item < DIGITS) histogram[item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = region * get_group_id(0) + item; i < end; i += ITEMS) atomic_inc(&histogram[digit_of(keys[i], shift)]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < DIGITS) counts[item * get_num_groups(0) + get_group_id(0)] = histogram[item];
}

// One group: exclusive prefix sums of `total` counts in place.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void sort_scan(__global uint* counts, uint const total) {
  __local uint cells[ITEMS];
  uint const item = get_local_id(0);
  uint before = 0;
  for (uint window = 0; window < total; window += ITEMS) {
    uint const i = window + item;
    uint value = i < total ? counts[i] : 0;
    uint const own = value;
    cells[item] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint reach = 1; reach < ITEMS; reach *= 2) {
      uint const left = item >= reach ? cells[item - reach] : 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      value += left;
      cells[item] = value;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < total) counts[i] = before + value - own;
    before += cells[ITEMS - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// Makes ranks[pair][item] the exclusive prefix sum over the group of what stands there.
void scan_pairs(__local uint (*ranks)[ITEMS], __local uint* totals) {
  uint const item = get_local_id(0);
  uint own[PAIRS], sum[PAIRS];
#pragma unroll
  for (uint pair = 0; pair < PAIRS; ++pair) own[pair] = sum[pair] = ranks[pair][item];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint reach = 1; reach < ITEMS; reach *= 2) {
    uint left[PAIRS];
#pragma unroll
    for (uint pair = 0; pair < PAIRS; ++pair) left[pair] = item >= reach ? ranks[pair][item - reach] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint pair = 0; pair < PAIRS; ++pair) ranks[pair][item] = sum[pair] += left[pair];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == ITEMS - 1)
    for (uint pair = 0; pair < PAIRS; ++pair) totals[pair] = ranks[pair][item];
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint pair = 0; pair < PAIRS; ++pair) ranks[pair][item] = sum[pair] - own[pair];
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void sort_scatter(__global uint const* keys,
                                                                              __global uint const* counts,
                                                                              __global uint* sorted, uint const n,
                                                                              uint const shift) {
  __local uint ranks[PAIRS][ITEMS];
  __local uint totals[PAIRS];
  __local uint start[DIGITS];
  uint const item = get_local_id(0);
  uint const region = region_keys(n);
  uint const end = min(n, region * ((uint)get_group_id(0) + 1));
  if (item < DIGITS) start[item] = counts[item * get_num_groups(0) + get_group_id(0)];
  for (uint tile = region * get_group_id(0); tile < end; tile += 4 * ITEMS) {
    uint const first = tile + 4 * item;
    for (uint pair = 0; pair < PAIRS; ++pair) ranks[pair][item] = 0;
    for (uint i = first; i < min(first + 4, end); ++i) {
      uint const digit = digit_of(keys[i], shift);
      ranks[digit / 2][item] += 1u << (16 * (digit & 1));
    }
    scan_pairs(ranks, totals);
    for (uint i = first; i < min(first + 4, end); ++i) {
      uint const key = keys[i];
      uint const digit = digit_of(key, shift);
      uint const rank = ranks[digit / 2][item];
      sorted[start[digit] + ((rank >> (16 * (digit & 1))) & 0xffff)] = key;
      ranks[digit / 2][item] = rank + (1u << (16 * (digit & 1)));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < DIGITS) start[item] += (totals[item / 2] >> (16 * (item & 1))) & 0xffff;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
