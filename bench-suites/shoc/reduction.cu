// Sum of n reals: one partial sum per block; the host adds those up.
//
// The blocks walk through the input together, every thread taking two elements of each stretch, then a block halves
// itself in shared memory. Blocks of 256. -DDOUBLE=1: double precision.
#if DOUBLE
using real = double;
#else
using real = float;
#endif

constexpr unsigned threads = 256;

extern "C" __global__ void __launch_bounds__(threads) reduce(real const* input, real* partial, unsigned n) {
  __shared__ real sums[threads];
  unsigned const item = threadIdx.x;
  real sum = 0;
  unsigned i = 2 * threads * blockIdx.x + item;
  for (; i + threads < n; i += 2 * threads * gridDim.x) sum += input[i] + input[i + threads];
  if (i < n) sum += input[i];
  sums[item] = sum;
  __syncthreads();
  for (unsigned active = threads / 2; active > 0; active /= 2) {
    if (item < active) sums[item] += sums[item + active];
    __syncthreads();
  }
  if (item == 0) partial[blockIdx.x] = sums[0];
}
