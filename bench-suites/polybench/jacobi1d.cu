// One step of smoothing: next[i] = (now[i-1] + now[i] + now[i+1]) 0.33333, then now = next; both ends stay.
//
// One thread per element; blocks of 256. The copy is a launch of its own: the step still reads its neighbours.
extern "C" __global__ void jacobi1d_step(float const* __restrict__ now, float* __restrict__ next, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1 || i >= n - 1) return;
  next[i] = 0.33333f * (now[i - 1] + now[i] + now[i + 1]);
}

extern "C" __global__ void jacobi1d_copy(float* __restrict__ now, float const* __restrict__ next, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1 || i >= n - 1) return;
  now[i] = next[i];
}
