// Kernels that launch kernels: a quicksort that divides on the device, streams and errors there, and the tail stream.
#include <algorithm>

#include "app.hpp"

__global__ void selection_sort(int* v, int begin, int end) {
  for (int i = begin; i < end; ++i)
    for (int k = i + 1; k < end; ++k)
      if (v[k] < v[i]) {
        int const t = v[i];
        v[i] = v[k];
        v[k] = t;
      }
}

__global__ void quicksort(int* v, int begin, int end, int depth) {
  if (depth == 12 || end - begin < 16) {
    selection_sort<<<1, 1>>>(v, begin, end);
    return;
  }
  int i = begin, k = end - 1;
  int const pivot = v[begin + (end - begin) / 2];
  while (i <= k) {
    while (v[i] < pivot) ++i;
    while (v[k] > pivot) --k;
    if (i <= k) {
      int const t = v[i];
      v[i++] = v[k];
      v[k--] = t;
    }
  }
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  if (begin < k + 1) quicksort<<<1, 1>>>(v, begin, k + 1, depth + 1);
  if (i < end) quicksort<<<1, 1, 0, other>>>(v, i, end, depth + 1);
  cudaStreamDestroy(other);
}

__global__ void add(int* sum, int amount) {
  atomicAdd(sum, amount);
}
__global__ void note(int const* sum, int* seen) {
  *seen = *sum;
}

// Each thread has its own kernels; the tail stream waits for all of them.
__global__ void family(int* sum, int* seen, int* errors) {
  add<<<2, 32>>>(sum, threadIdx.x);
  if (threadIdx.x > 0) return;
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(sum, seen);
  cudaMemsetAsync(errors + 1, 0x11, sizeof(int), 0);
  add<<<1, 0>>>(sum, 1000);  // no such block
  errors[0] = cudaGetLastError() != cudaSuccess && cudaGetLastError() == cudaSuccess;
}

int main() {
  Numbers numbers;
  std::vector<int> values(1500);
  for (auto& v : values) v = static_cast<int>(numbers.next() >> 12);
  int* const v = on_device(values);
  quicksort<<<1, 1>>>(v, 0, static_cast<int>(values.size()), 0);
  CHECK(cudaDeviceSynchronize());
  std::sort(values.begin(), values.end());
  expect_equal(from_device(v, values.size()), values, "sorted");

  int* const results = zeros_on_device<int>(4);
  family<<<1, 8>>>(results, results + 1, results + 2);
  CHECK(cudaDeviceSynchronize());
  int const sum = 64 * (7 * 8 / 2);
  expect_equal(from_device(results, 4), {sum, sum, 1, 0x11111111}, "sums, the tail stream, errors");
  return finish();
}
