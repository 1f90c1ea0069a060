// Eight host threads with the default stream of each thread (nvcc --default-stream per-thread), and one that waits for
// them all.
#include <thread>

#include "app.hpp"

__global__ void iterate(unsigned* x, int times) {
  unsigned v = x[threadIdx.x];
  for (int k = 0; k < times; ++k) v = v * 1664525u + 1013904223u;
  x[threadIdx.x] = v;
}

int main() {
  constexpr int threads = 8, items = 96, launches = 12;
  CHECK(cudaSetDevice(0));
  std::vector<std::vector<unsigned>> got(threads);
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      std::vector<unsigned> x(items);
      for (int i = 0; i < items; ++i) x[i] = t * 1000 + i;
      unsigned* const d = on_device(x);
      for (int k = 0; k < launches; ++k) iterate<<<1, items>>>(d, k + t);
      CHECK(cudaStreamSynchronize(cudaStreamPerThread));
      got[t] = from_device(d, items);
      CHECK(cudaFree(d));
    });
  for (auto& thread : all) thread.join();
  bool good = true;
  for (int t = 0; t < threads; ++t)
    for (int i = 0; i < items; ++i) {
      unsigned v = t * 1000 + i;
      for (int k = 0; k < launches; ++k)
        for (int j = 0; j < k + t; ++j) v = v * 1664525u + 1013904223u;
      good &= got[t][i] == v;
    }
  expect(good, "eight threads");
  return finish();
}
