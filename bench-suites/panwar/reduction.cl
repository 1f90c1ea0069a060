// Sum of unsigned integers, modulo 2^32: one partial sum of four components per group; the host adds those up.
//
// A work-item adds two neighbouring uint4, then the group halves itself in local memory.
// Groups of 256, one work-item per eight elements, local memory one uint4 per work-item.
__kernel void reduce(__global uint4 const* input, __global uint4* partial, __local uint4* sums) {
  const uint item = get_local_id(0);
  const uint pair = 2 * get_global_id(0);
  sums[item] = input[pair] + input[pair + 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint active = get_local_size(0) / 2; active > 0; active /= 2) {
    if (item < active) sums[item] += sums[item + active];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) partial[get_group_id(0)] = sums[0];
}
