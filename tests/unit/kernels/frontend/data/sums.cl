__kernel void sums(__global float *a, __local float *tile, int n) {
  int i = get_global_id(0), l = get_local_id(0);
  __local float own[32];
  tile[l] = sin(a[i]);
  own[l & 31] = a[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int j = 0; j < n; ++j) a[i] += tile[(l + j) & 15] * own[j & 31];
}
__kernel void second(__global int *x) { x[get_global_id(0)] += 3; }
