extern "C" __global__ void scale(double const* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float tile[256];
  int const i = blockIdx.x * 256 + threadIdx.x;
  tile[threadIdx.x] = (float)(x[i] * 0.5);
  __syncthreads();
  if (i < n) y[i] = tile[255 - threadIdx.x] + 1;
}
