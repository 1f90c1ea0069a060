#include "include/scale.h"
typedef struct { float weight; int tag; char name[12]; } Point;

__kernel __attribute__((reqd_work_group_size(16, 4, 1)))
void arguments(__global const float *a, __constant float *table, __local float *tile, Point p, float4 v,
               read_only image2d_t image, sampler_t smp, int n) {
  __local float own[64];
  int i = get_global_id(0), l = get_local_id(1) * 16 + get_local_id(0);
  own[l] = a[i] * SCALE + read_imagef(image, smp, (int2)(i, 0)).x;
  barrier(CLK_LOCAL_MEM_FENCE);
  tile[l] = own[63 - l] + table[i & 15] + p.weight * v.x + p.name[3] * n;
  barrier(CLK_LOCAL_MEM_FENCE);
  ((__global float *)a)[i] = tile[(l + 1) & 63];
}

__kernel void second(__global int *x) { x[get_global_id(0)] += 3; }
