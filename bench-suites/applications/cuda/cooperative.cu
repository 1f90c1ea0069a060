// A cooperative launch: the whole grid, as large as fits on the device but at most eight groups, meets between the
// rounds.
#include <cooperative_groups.h>

#include <algorithm>

#include "app.hpp"

namespace cg = cooperative_groups;

// Ranks of a list by pointer jumping; each round reads what all others have written.
__global__ void jump(int* next, int* rank, int* next_too, int* rank_too, int n, int rounds) {
  auto const grid = cg::this_grid();
  for (int round = 0; round < rounds; ++round) {
    for (unsigned i = grid.thread_rank(); i < static_cast<unsigned>(n); i += grid.size()) {
      rank_too[i] = rank[i] + (next[i] >= 0 ? rank[next[i]] : 0);
      next_too[i] = next[i] >= 0 ? next[next[i]] : -1;
    }
    grid.sync();
    int *const n0 = next, *const r0 = rank;
    next = next_too, rank = rank_too;
    next_too = n0, rank_too = r0;
  }
}

int main() {
  int device = 0, cooperative = 0, multiprocessors = 0, fits = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
  if (!cooperative) {
    std::puts("no cooperative launches");
    return 77;
  }
  constexpr int block = 64;
  CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fits, jump, block, 0));
  int n = 777, rounds = 10;
  std::vector<int> next(n), rank(n, 1), order(n), expected(n);
  for (int i = 0; i < n; ++i) order[i] = i;
  Numbers numbers;
  for (int i = n - 1; i > 0; --i) std::swap(order[i], order[numbers.next() % (i + 1)]);
  for (int k = 0; k < n; ++k) {
    next[order[k]] = k + 1 < n ? order[k + 1] : -1;
    expected[order[k]] = n - k;
  }
  int* d_next = on_device(next);
  int* d_rank = on_device(rank);
  int* d_next_too = zeros_on_device<int>(n);
  int* d_rank_too = zeros_on_device<int>(n);
  void* arguments[] = {&d_next, &d_rank, &d_next_too, &d_rank_too, &n, &rounds};
  int const groups = std::min(8, fits * multiprocessors);
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(jump), dim3(groups), dim3(block), arguments, 0, nullptr));
  CHECK(cudaDeviceSynchronize());
  expect_equal(from_device(d_rank, n), expected, "ranks");
  return finish();
}
