// Kernels for the golden cases of miniemu.
kernel void scale(global float* data, uint n, float factor) {
  uint i = get_global_id(0);
  if (i < n) data[i] *= factor;
}

kernel void shifted(global int* data, int by) {
  data[get_global_id(0) + by] = 1;
}

kernel void endless(global volatile int* flag) {
  while (flag[0] == 0) {
  }
}

kernel __attribute__((reqd_work_group_size(16, 4, 1))) void tiled(global float* out, local float* tile) {
  uint i = get_local_id(1) * 16 + get_local_id(0);
  tile[i] = out[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = tile[63 - i];
}
