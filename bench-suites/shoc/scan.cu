// Inclusive prefix sums of n reals in three launches: sums of regions, their exclusive prefix sums, and the scan of
// each region from there on.
//
// A block has one region, whole vectors of four; n is a multiple of 4. Within a block: serially in a vector, then by
// Kogge and Stone in shared memory. Blocks of 256, at most 256 of them. -DDOUBLE=1: double precision.
#if DOUBLE
using real = double;
using real4 = double4;
#else
using real = float;
using real4 = float4;
#endif

constexpr unsigned threads = 256;

__device__ unsigned region_vectors(unsigned n) {
  return (n / 4 + gridDim.x - 1) / gridDim.x;
}

// The inclusive prefix sum of `value` over the block.
__device__ real scan_block(real value, real* cells) {
  unsigned const item = threadIdx.x;
  cells[item] = value;
  __syncthreads();
  for (unsigned reach = 1; reach < threads; reach *= 2) {
    real const left = item >= reach ? cells[item - reach] : 0;
    __syncthreads();
    value += left;
    cells[item] = value;
    __syncthreads();
  }
  return value;
}

extern "C" __global__ void __launch_bounds__(threads) scan_sum_regions(real const* input, real* sums, unsigned n) {
  __shared__ real cells[threads];
  unsigned const item = threadIdx.x;
  unsigned const region = 4 * region_vectors(n);
  unsigned const end = min(n, region * (blockIdx.x + 1));
  real sum = 0;
  for (unsigned i = region * blockIdx.x + item; i < end; i += threads) sum += input[i];
  cells[item] = sum;
  __syncthreads();
  for (unsigned active = threads / 2; active > 0; active /= 2) {
    if (item < active) cells[item] += cells[item + active];
    __syncthreads();
  }
  if (item == 0) sums[blockIdx.x] = cells[0];
}

// One block; `regions` sums in place.
extern "C" __global__ void __launch_bounds__(threads) scan_region_sums(real* sums, unsigned regions) {
  __shared__ real cells[threads];
  unsigned const item = threadIdx.x;
  real const value = item < regions ? sums[item] : 0;
  scan_block(value, cells);
  if (item < regions) sums[item] = item > 0 ? cells[item - 1] : 0;
}

extern "C" __global__ void __launch_bounds__(threads)
    scan_regions(real4 const* input, real const* sums, real4* output, unsigned n) {
  __shared__ real cells[threads];
  unsigned const item = threadIdx.x;
  unsigned const region = region_vectors(n);
  unsigned const end = min(n / 4, region * (blockIdx.x + 1));
  real before = sums[blockIdx.x];
  for (unsigned window = region * blockIdx.x; window < end; window += threads) {
    unsigned const i = window + item;
    real4 value = {0, 0, 0, 0};
    if (i < end) value = input[i];
    value.y += value.x;
    value.z += value.y;
    value.w += value.z;
    scan_block(value.w, cells);
    real const offset = item > 0 ? before + cells[item - 1] : before;
    value.x += offset;
    value.y += offset;
    value.z += offset;
    value.w += offset;
    if (i < end) output[i] = value;
    before += cells[threads - 1];
    __syncthreads();
  }
}
