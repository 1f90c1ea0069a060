// Atomic operations: a histogram in shared memory, every operation on global memory, a lock by compare-and-swap.
#include "app.hpp"

#include <algorithm>

__global__ void histogram(unsigned char const* data, unsigned* bins, int n) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[data[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

struct All {
  int sum, least, most, bits_and, bits_or, bits_xor, difference;
  unsigned wrapped;
  unsigned long long wide, largest;
  float real;
  double exact;
};

__global__ void every(All* all, int const* x, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int const v = x[i];
  atomicAdd(&all->sum, v);
  atomicSub(&all->difference, v);
  atomicMin(&all->least, v);
  atomicMax(&all->most, v);
  atomicAnd(&all->bits_and, v | 0xff00);
  atomicOr(&all->bits_or, v & 0xf0);
  atomicXor(&all->bits_xor, v);
  atomicInc(&all->wrapped, 9u);
  atomicAdd(&all->wide, 1ull << (i % 40));
  atomicMax(&all->largest, static_cast<unsigned long long>(v) << 32);
  atomicAdd(&all->real, 0.5f);
  atomicAdd(&all->exact, 0.25);
}

// A lock for each of 16 accounts; groups take it in turn.
__global__ void book(int* locks, int* balance, int const* amount) {
  if (threadIdx.x > 0) return;
  int const account = blockIdx.x % 16;
  while (atomicCAS(&locks[account], 0, 1) != 0) continue;
  __threadfence();
  balance[account] = *static_cast<int volatile*>(&balance[account]) + amount[blockIdx.x];
  __threadfence();
  atomicExch(&locks[account], 0);
}

int main() {
  int const n = 50000;
  Numbers numbers;
  std::vector<unsigned char> data(n);
  std::vector<unsigned> bins(256);
  for (auto& v : data) v = static_cast<unsigned char>(numbers.unit() * numbers.unit() * 255), ++bins[v];
  unsigned* const d_bins = zeros_on_device<unsigned>(256);
  histogram<<<10, 256>>>(on_device(data), d_bins, n);
  expect_equal(from_device(d_bins, 256), bins, "histogram");

  std::vector<int> x(5000);
  for (auto& v : x) v = static_cast<int>(numbers.next() >> 8) - (1 << 23);
  All expected{0, 1 << 30, -(1 << 30), -1, 0, 0, 0, 0, 0, 0, 0, 0};
  std::vector<All> const begin(1, expected);
  for (std::size_t i = 0; i < x.size(); ++i) {
    int const v = x[i];
    expected.sum += v, expected.difference -= v;
    expected.least = std::min(expected.least, v), expected.most = std::max(expected.most, v);
    expected.bits_and &= v | 0xff00, expected.bits_or |= v & 0xf0, expected.bits_xor ^= v;
    expected.wrapped = expected.wrapped >= 9 ? 0 : expected.wrapped + 1;
    expected.wide += 1ull << (i % 40);
    expected.largest = std::max(expected.largest, static_cast<unsigned long long>(v) << 32);
    expected.real += 0.5f, expected.exact += 0.25;
  }
  All* const d_all = on_device(begin);
  every<<<40, 128>>>(d_all, on_device(x), 5000);
  auto const got = from_device(d_all, 1).front();
  expect(got.sum == expected.sum && got.difference == expected.difference, "add, sub");
  expect(got.least == expected.least && got.most == expected.most, "min, max");
  expect(got.bits_and == expected.bits_and && got.bits_or == expected.bits_or && got.bits_xor == expected.bits_xor,
         "and, or, xor");
  expect(got.wrapped == expected.wrapped && got.wide == expected.wide && got.largest == expected.largest,
         "inc, 64 bits");
  expect(got.real == expected.real && got.exact == expected.exact, "float, double");

  std::vector<int> amount(200), balance(16);
  for (int k = 0; k < 200; ++k) amount[k] = k * k % 37, balance[k % 16] += amount[k];
  int* const d_balance = zeros_on_device<int>(16);
  book<<<200, 32>>>(zeros_on_device<int>(16), d_balance, on_device(amount));
  expect_equal(from_device(d_balance, 16), balance, "a lock");
  return finish();
}
