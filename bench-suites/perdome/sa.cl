// The synthetic application of [perdome]: compute-intensive PowAdd and memory-intensive VecAdd, one element per work-item.

// b += the sum of the 16th powers of eight numbers: 8 x (15 multiplications, 1 addition).
kernel void pow_add(global float const* a, global float* b, int n) {
  int const i = get_global_id(0);
  if (i >= n) return;
  float sum = b[i];
  for (int j = 0; j < 8; ++j) {
    float const x = a[j * n + i];
    float power = x;
#pragma unroll
    for (int k = 1; k < 16; ++k) power *= x;
    sum += power;
  }
  b[i] = sum;
}

kernel void vec_add(global float const* c, global float const* d, global float* e, int n) {
  int const i = get_global_id(0);
  if (i < n) e[i] = c[i] + d[i];
}
