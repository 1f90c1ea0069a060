// Radix sort of n unsigned keys, four bits a pass, stable; a pass is three launches: how often each digit occurs in
// each region, where each region's keys of each digit begin, and moving the keys there.
//
// A block has one region, whole tiles of 1024 keys (the last may be shorter): a thread has four neighbouring keys of
// a tile. Counts of two digits share a word, so that eight scans over the block rank sixteen digits. counts[digit *
// regions + region]. Blocks of 256.

constexpr unsigned threads = 256;
constexpr unsigned digits = 16;
constexpr unsigned pairs = 8;

__device__ unsigned region_keys(unsigned n) {
  unsigned const tiles = (n + 4 * threads - 1) / (4 * threads);
  return 4 * threads * ((tiles + gridDim.x - 1) / gridDim.x);
}

__device__ unsigned digit_of(unsigned key, unsigned shift) {
  return (key >> shift) & (digits - 1);
}

extern "C" __global__ void __launch_bounds__(threads)
    sort_count(unsigned const* keys, unsigned* counts, unsigned n, unsigned shift) {
  __shared__ unsigned histogram[digits];
  unsigned const item = threadIdx.x;
  unsigned const region = region_keys(n);
  unsigned const end = min(n, region * (blockIdx.x + 1));
  if (item < digits) histogram[item] = 0;
  __syncthreads();
  for (unsigned i = region * blockIdx.x + item; i < end; i += threads)
    atomicAdd(&histogram[digit_of(keys[i], shift)], 1u);
  __syncthreads();
  if (item < digits) counts[item * gridDim.x + blockIdx.x] = histogram[item];
}

// One block: exclusive prefix sums of `total` counts in place.
extern "C" __global__ void __launch_bounds__(threads) sort_scan(unsigned* counts, unsigned total) {
  __shared__ unsigned cells[threads];
  unsigned const item = threadIdx.x;
  unsigned before = 0;
  for (unsigned window = 0; window < total; window += threads) {
    unsigned const i = window + item;
    unsigned value = i < total ? counts[i] : 0;
    unsigned const own = value;
    cells[item] = value;
    __syncthreads();
    for (unsigned reach = 1; reach < threads; reach *= 2) {
      unsigned const left = item >= reach ? cells[item - reach] : 0;
      __syncthreads();
      value += left;
      cells[item] = value;
      __syncthreads();
    }
    if (i < total) counts[i] = before + value - own;
    before += cells[threads - 1];
    __syncthreads();
  }
}

// Makes ranks[pair][item] the exclusive prefix sum over the block of what stands there.
__device__ void scan_pairs(unsigned (&ranks)[pairs][threads], unsigned (&totals)[pairs]) {
  unsigned const item = threadIdx.x;
  unsigned own[pairs], sum[pairs];
#pragma unroll
  for (unsigned pair = 0; pair < pairs; ++pair) own[pair] = sum[pair] = ranks[pair][item];
  __syncthreads();
  for (unsigned reach = 1; reach < threads; reach *= 2) {
    unsigned left[pairs];
#pragma unroll
    for (unsigned pair = 0; pair < pairs; ++pair) left[pair] = item >= reach ? ranks[pair][item - reach] : 0;
    __syncthreads();
#pragma unroll
    for (unsigned pair = 0; pair < pairs; ++pair) ranks[pair][item] = sum[pair] += left[pair];
    __syncthreads();
  }
  if (item == threads - 1)
    for (unsigned pair = 0; pair < pairs; ++pair) totals[pair] = ranks[pair][item];
  __syncthreads();
#pragma unroll
  for (unsigned pair = 0; pair < pairs; ++pair) ranks[pair][item] = sum[pair] - own[pair];
}

extern "C" __global__ void __launch_bounds__(threads)
    sort_scatter(unsigned const* keys, unsigned const* counts, unsigned* sorted, unsigned n, unsigned shift) {
  __shared__ unsigned ranks[pairs][threads];
  __shared__ unsigned totals[pairs];
  __shared__ unsigned start[digits];
  unsigned const item = threadIdx.x;
  unsigned const region = region_keys(n);
  unsigned const end = min(n, region * (blockIdx.x + 1));
  if (item < digits) start[item] = counts[item * gridDim.x + blockIdx.x];
  for (unsigned tile = region * blockIdx.x; tile < end; tile += 4 * threads) {
    unsigned const first = tile + 4 * item;
    for (unsigned pair = 0; pair < pairs; ++pair) ranks[pair][item] = 0;
    for (unsigned i = first; i < min(first + 4, end); ++i) {
      unsigned const digit = digit_of(keys[i], shift);
      ranks[digit / 2][item] += 1u << (16 * (digit & 1));
    }
    scan_pairs(ranks, totals);
    for (unsigned i = first; i < min(first + 4, end); ++i) {
      unsigned const key = keys[i];
      unsigned const digit = digit_of(key, shift);
      unsigned const rank = ranks[digit / 2][item];
      sorted[start[digit] + ((rank >> (16 * (digit & 1))) & 0xffff)] = key;
      ranks[digit / 2][item] = rank + (1u << (16 * (digit & 1)));
    }
    __syncthreads();
    if (item < digits) start[item] += (totals[item / 2] >> (16 * (item & 1))) & 0xffff;
    __syncthreads();
  }
}
