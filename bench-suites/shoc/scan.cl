// Inclusive prefix sums of n reals in three launches: sums of regions, their exclusive prefix sums, and the scan of
// each region from there on.
//
// A group has one region, whole vectors of four; n is a multiple of 4. Within a group: serially in a vector, then by
// Kogge and Stone in local memory. Groups of 256, at most 256 of them. -DDOUBLE=1: double precision.
#if DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double4 real4;
#else
typedef float real;
typedef float4 real4;
#endif

#define ITEMS 256

uint region_vectors(uint n) {
  return (n / 4 + get_num_groups(0) - 1) / get_num_groups(0);
}

// The inclusive prefix sum of `value` over the group.
real scan_group(real value, __local real* cells) {
  uint const item = get_local_id(0);
  cells[item] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint reach = 1; reach < ITEMS; reach *= 2) {
    real const left = item >= reach ? cells[item - reach] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    value += left;
    cells[item] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return value;
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void scan_sum_regions(__global real const* input,
                                                                                  __global real* sums, uint const n) {
  __local real cells[ITEMS];
  uint const item = get_local_id(0);
  uint const region = 4 * region_vectors(n);
  uint const end = min(n, region * ((uint)get_group_id(0) + 1));
  real sum = 0;
  for (uint i = region * get_group_id(0) + item; i < end; i += ITEMS) sum += input[i];
  cells[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint active = ITEMS / 2; active > 0; active /= 2) {
    if (item < active) cells[item] += cells[item + active];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) sums[get_group_id(0)] = cells[0];
}

// One group; `regions` sums in place.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void scan_region_sums(__global real* sums,
                                                                                  uint const regions) {
  __local real cells[ITEMS];
  uint const item = get_local_id(0);
  real const value = item < regions ? sums[item] : 0;
  scan_group(value, cells);
  if (item < regions) sums[item] = item > 0 ? cells[item - 1] : 0;
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void scan_regions(__global real4 const* input,
                                                                              __global real const* sums,
                                                                              __global real4* output, uint const n) {
  __local real cells[ITEMS];
  uint const item = get_local_id(0);
  uint const region = region_vectors(n);
  uint const end = min(n / 4, region * ((uint)get_group_id(0) + 1));
  real before = sums[get_group_id(0)];
  for (uint window = region * get_group_id(0); window < end; window += ITEMS) {
    uint const i = window + item;
    real4 value = i < end ? input[i] : (real4)(0);
    value.y += value.x;
    value.z += value.y;
    value.w += value.z;
    scan_group(value.w, cells);
    real const offset = item > 0 ? before + cells[item - 1] : before;
    if (i < end) output[i] = value + offset;
    before += cells[ITEMS - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
