// Barriers that only NVIDIA's devices let pass: some work-items have returned, or wait at another one.
kernel void left(global int* data, int n) {
  local int s[64];
  int t = get_local_id(0), i = get_global_id(0);
  if (i >= n) return;
  for (int k = 0; k < 2; ++k) {
    s[t] = data[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[i] = s[t] + k;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

kernel void apart(global int* data) {
  local int s[64];
  int t = get_local_id(0);
  s[t] = t;
  if (t < 32) {
    barrier(CLK_LOCAL_MEM_FENCE);
    data[t] = s[t];
  } else {
    barrier(CLK_LOCAL_MEM_FENCE);
    data[t] = 2 * s[t];
  }
}

kernel void whole(global int* data, int n) {
  local int s[64];
  int t = get_local_id(0), i = get_global_id(0);
  s[t] = i < n ? data[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i >= n) return;
  data[i] = s[t ^ 1];
}
