// c = a + scale * b, one thread per element. Blocks of 128.
extern "C" __global__ void triad(float const* a, float const* b, float* c, float scale) {
  size_t const i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  c[i] = a[i] + scale * b[i];
}
