// printf in kernels: every conversion, in the order of the work-items of one group; output of the host between.
#include "app.hpp"

__global__ void speak(int round, double value, char const* unused) {
  if (threadIdx.x > 0) return;
  printf("round %d: %5.2f %e %g|%-6d|%06d|%x|%c|%s|%llu|%%\n", round, value, value, value, round, round, 255 + round,
         'a' + round, "text", 1ull << 40);
  if (unused) printf("%s", unused);
}
__global__ void count() {
  for (int turn = 0; turn < 3; ++turn) {
    if (threadIdx.x == static_cast<unsigned>(turn)) printf("work-item %u of group %u\n", threadIdx.x, blockIdx.x);
    __syncwarp();
  }
}

int main() {
  CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
  for (int round = 0; round < 3; ++round) {
    speak<<<1, 32>>>(round, 1.5 * round, nullptr);
    CHECK(cudaDeviceSynchronize());
    std::printf("the host after round %d\n", round);
    std::fflush(stdout);
  }
  count<<<1, 32>>>();
  CHECK(cudaDeviceSynchronize());
  std::size_t bytes = 0;
  CHECK(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
  expect(bytes >= 1 << 20, "the limit");
  return finish();
}
