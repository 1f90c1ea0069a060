// Cooperative groups within a work-group: tiles, votes, groups of the lanes that are here, reductions and scans; a
// radix sort in several kernels.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <algorithm>

#include "app.hpp"

namespace cg = cooperative_groups;

__global__ void tiles(int const* x, int* sums, int* scans, int n) {
  auto const block = cg::this_thread_block();
  auto const tile = cg::tiled_partition<16>(block);
  int const i = block.group_index().x * block.size() + block.thread_rank();
  int const v = i < n ? x[i] : 0;
  int const sum = cg::reduce(tile, v, cg::plus<int>());
  scans[i] = cg::exclusive_scan(tile, v);
  if (tile.thread_rank() == 0) sums[i / 16] = sum;
}

// Keeps the odd ones, in any order: one atomic operation for all lanes that are here.
__global__ void keep_odd(int const* x, int* out, int* count, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || x[i] % 2 == 0) return;
  auto const here = cg::coalesced_threads();
  int first = 0;
  if (here.thread_rank() == 0) first = atomicAdd(count, static_cast<int>(here.size()));
  out[here.shfl(first, 0) + here.thread_rank()] = x[i];
}

// One digit of a stable sort by one group: ranks by votes of warps.
__global__ void sort_bit(unsigned const* in, unsigned* out, int n, int bit) {
  __shared__ int zeros_of_warp[32], all_zeros;
  int const items = blockDim.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int zeros_before = 0, done = 0;
  for (int pass = 0; pass < 2; ++pass) {  // first how many zeros there are, then everyone's place
    zeros_before = done = 0;
    for (int base = 0; base < n; base += items) {
      int const i = base + threadIdx.x;
      bool const valid = i < n, zero = valid && !(in[i] >> bit & 1u);
      unsigned const votes = __ballot_sync(0xffffffffu, zero);
      if (lane == 0) zeros_of_warp[warp] = __popc(votes);
      __syncthreads();
      int before = zeros_before + __popc(votes & ((1u << lane) - 1)), here = 0;
      for (int w = 0; w < items / 32; ++w) {
        if (w < warp) before += zeros_of_warp[w];
        here += zeros_of_warp[w];
      }
      if (pass == 1 && valid) out[zero ? before : all_zeros + i - before] = in[i];
      zeros_before += here;
      done += items;
      __syncthreads();
    }
    if (threadIdx.x == 0) all_zeros = zeros_before;
    __syncthreads();
  }
}

int main() {
  int const n = 3000, padded = 3072;
  Numbers numbers;
  std::vector<int> x(n);
  for (auto& v : x) v = static_cast<int>(numbers.next() >> 20);
  int *const d_x = on_device(x), *const sums = zeros_on_device<int>(padded / 16),
             *const scans = zeros_on_device<int>(padded), *const count = zeros_on_device<int>(1);
  tiles<<<padded / 128, 128>>>(d_x, sums, scans, n);
  std::vector<int> expected_sums(padded / 16), expected_scans(padded);
  for (int i = 0; i < padded; ++i) {
    expected_scans[i] = expected_sums[i / 16];
    if (i < n) expected_sums[i / 16] += x[i];
  }
  expect_equal(from_device(sums, padded / 16), expected_sums, "sums of tiles");
  expect_equal(from_device(scans, padded), expected_scans, "scans of tiles");

  keep_odd<<<padded / 128, 128>>>(d_x, scans, count, n);
  auto kept = from_device(scans, from_device(count, 1)[0]);
  std::vector<int> odd;
  std::copy_if(x.begin(), x.end(), std::back_inserter(odd), [](int v) { return v % 2 != 0; });
  std::sort(kept.begin(), kept.end());
  std::sort(odd.begin(), odd.end());
  expect_equal(kept, odd, "the odd ones");

  std::vector<unsigned> keys(x.begin(), x.end());
  unsigned *in = on_device(keys), *out = zeros_on_device<unsigned>(n);
  for (int bit = 0; bit < 12; ++bit) {
    sort_bit<<<1, 256>>>(in, out, n, bit);
    std::swap(in, out);
  }
  std::sort(keys.begin(), keys.end());
  expect_equal(from_device(in, n), keys, "sorted");
  return finish();
}
