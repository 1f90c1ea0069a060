// What the applications share: ending with words where a call fails, numbers that are always the same, and comparing
// what the device has computed with what the host computes.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                         \
  do {                                                                                                      \
    cudaError_t const check_status = (call);                                                                \
    if (check_status != cudaSuccess) {                                                                      \
      std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(check_status));                  \
      std::exit(check_status == cudaErrorNoDevice || check_status == cudaErrorInsufficientDriver ? 77 : 9); \
    }                                                                                                       \
  } while (false)

// Numbers that look random: [0, 1), the same each time.
struct Numbers {
  std::uint32_t state = 12345;
  std::uint32_t next() { return state = state * 1664525u + 1013904223u; }
  float unit() { return static_cast<float>(next() >> 8) / (1 << 24); }
  std::vector<float> units(std::size_t count) {
    std::vector<float> out(count);
    for (auto& v : out) v = unit();
    return out;
  }
};

// Checks that failed so far; each says what it is about.
inline int& failures() {
  static int count = 0;
  return count;
}
inline void expect(bool good, char const* what) {
  if (!good) ++failures();
  std::printf("%s: %s\n", what, good ? "right" : "wrong");
}
template <class T>
void expect_equal(std::vector<T> const& got, std::vector<T> const& expected, char const* what) {
  expect(got == expected, what);
}
// |got - expected| <= tolerance * max(1, |expected|)
template <class T>
void expect_near(std::vector<T> const& got, std::vector<T> const& expected, double tolerance, char const* what) {
  bool good = got.size() == expected.size();
  for (std::size_t i = 0; good && i < got.size(); ++i) {
    double const e = expected[i];
    good = std::fabs(got[i] - e) <= tolerance * std::fmax(1, std::fabs(e));
    if (!good) std::printf("element %zu: %.9g, expected %.9g\n", i, static_cast<double>(got[i]), e);
  }
  expect(good, what);
}
inline int finish() {
  std::puts(failures() == 0 ? "PASSED" : "FAILED");
  return failures() == 0 ? 0 : 1;
}

template <class T>
T* on_device(std::vector<T> const& content) {
  T* at = nullptr;
  CHECK(cudaMalloc(&at, content.size() * sizeof(T)));
  CHECK(cudaMemcpy(at, content.data(), content.size() * sizeof(T), cudaMemcpyHostToDevice));
  return at;
}
template <class T>
T* zeros_on_device(std::size_t count) {
  return on_device(std::vector<T>(count));
}
template <class T>
std::vector<T> from_device(T const* at, std::size_t count) {
  std::vector<T> out(count);
  CHECK(cudaMemcpy(out.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost));
  return out;
}
