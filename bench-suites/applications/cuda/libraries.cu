// Thrust and CUB: sorts by keys, reductions, scans and selections whose kernels the toolkit's headers make.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cub/cub.cuh>

#include "app.hpp"

int main() {
  int const n = 20000;
  Numbers numbers;
  std::vector<unsigned> keys(n), sorted;
  for (auto& key : keys) key = numbers.next() >> 18;
  sorted = keys;
  std::stable_sort(sorted.begin(), sorted.end());

  thrust::device_vector<unsigned> d_keys(keys.begin(), keys.end());
  thrust::sort(d_keys.begin(), d_keys.end());
  std::vector<unsigned> got(n);
  thrust::copy(d_keys.begin(), d_keys.end(), got.begin());
  expect_equal(got, sorted, "thrust::sort");
  auto const sum = thrust::reduce(d_keys.begin(), d_keys.end(), 0ull);
  unsigned long long expected_sum = 0;
  for (auto const key : keys) expected_sum += key;
  expect(sum == expected_sum, "thrust::reduce");
  thrust::inclusive_scan(d_keys.begin(), d_keys.end(), d_keys.begin());
  thrust::copy(d_keys.begin(), d_keys.end(), got.begin());
  std::vector<unsigned> scanned(n);
  for (int i = 0; i < n; ++i) scanned[i] = sorted[i] + (i ? scanned[i - 1] : 0);
  expect_equal(got, scanned, "thrust::inclusive_scan");

  unsigned *const in = on_device(keys), *const out = zeros_on_device<unsigned>(n),
                  *const result = zeros_on_device<unsigned>(1);
  void* temporary = nullptr;
  std::size_t bytes = 0, more = 0;
  CHECK(cub::DeviceReduce::Max(nullptr, bytes, in, result, n));
  CHECK(cub::DeviceSelect::Unique(nullptr, more, in, out, result, n));
  CHECK(cudaMalloc(&temporary, std::max(bytes, more)));
  CHECK(cub::DeviceReduce::Max(temporary, bytes, in, result, n));
  expect(from_device(result, 1)[0] == sorted.back(), "cub::DeviceReduce::Max");
  unsigned* const d_sorted = on_device(sorted);
  CHECK(cub::DeviceSelect::Unique(temporary, more, d_sorted, out, result, n));
  auto const end = std::unique(sorted.begin(), sorted.end());
  sorted.erase(end, sorted.end());
  expect_equal(from_device(out, from_device(result, 1)[0]), sorted, "cub::DeviceSelect::Unique");
  return finish();
}
