// Sum of n reals: one partial sum per group; the host adds those up.
//
// The groups walk through the input together, every work-item taking two elements of each stretch, then a group halves
// itself in local memory. Groups of 256. -DDOUBLE=1: double precision.
#if DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#else
typedef float real;
#endif

#define ITEMS 256

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void reduce(__global real const* input,
                                                                        __global real* partial, const uint n) {
  __local real sums[ITEMS];
  uint const item = get_local_id(0);
  real sum = 0;
  uint i = 2 * ITEMS * get_group_id(0) + item;
  for (; i + ITEMS < n; i += 2 * ITEMS * get_num_groups(0)) sum += input[i] + input[i + ITEMS];
  if (i < n) sum += input[i];
  sums[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint active = ITEMS / 2; active > 0; active /= 2) {
    if (item < active) sums[item] += sums[item + active];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) partial[get_group_id(0)] = sums[0];
}
