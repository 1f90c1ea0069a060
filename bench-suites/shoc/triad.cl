// c = a + scale * b, one work-item per element. Groups of 128.
__kernel void triad(__global float const* a, __global float const* b, __global float* c, float const scale) {
  size_t const i = get_global_id(0);
  c[i] = a[i] + scale * b[i];
}
