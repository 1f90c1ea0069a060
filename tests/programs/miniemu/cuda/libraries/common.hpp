// What the programs of this folder share: memory of the device, numbers to fill it with, and a count of what is wrong.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

extern "C" {
int cudaMalloc(void** pointer, std::size_t bytes);
int cudaFree(void* pointer);
int cudaMemcpy(void* to, void const* from, std::size_t bytes, int kind);
int cudaDeviceSynchronize();
int cudaStreamCreate(void** stream);
int cudaStreamBeginCapture(void* stream, int mode);
int cudaStreamEndCapture(void* stream, void** graph);
int cudaGraphInstantiate(void** exec, void* graph, unsigned long long flags);
int cudaGraphLaunch(void* exec, void* stream);
}

inline int wrong = 0;
inline void expect(bool holds, char const* what) {
  if (holds) return;
  std::printf("wrong: %s\n", what);
  ++wrong;
}

inline std::mt19937& numbers() {
  static std::mt19937 made(20241124);
  return made;
}
inline int between(int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(numbers());
}
inline std::uint16_t half_of(int whole) {  // small integers, exact
  if (whole == 0) return 0;
  int const size = std::abs(whole);
  int e = 0;
  while (size >> (e + 1)) ++e;
  return static_cast<std::uint16_t>((whole < 0 ? 0x8000 : 0) | (e + 15) << 10 | (size << (10 - e) & 0x3ff));
}
inline std::uint16_t bfloat_of(int whole) {
  float const value = static_cast<float>(whole);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, 4);
  return static_cast<std::uint16_t>(bits >> 16);
}

template <class T>
T drawn() {
  std::uniform_real_distribution<double> one(-1, 1);
  if constexpr (requires(T t) { t.real(); })
    return {static_cast<typename T::value_type>(one(numbers())), static_cast<typename T::value_type>(one(numbers()))};
  else
    return static_cast<T>(one(numbers()));
}

template <class T>
std::vector<T> drawn(std::size_t count) {
  std::vector<T> out(count);
  for (T& value : out) value = drawn<T>();
  return out;
}

template <class T>
class OnDevice {
 public:
  explicit OnDevice(std::vector<T> const& values) : count_(values.size()) {
    expect(cudaMalloc(reinterpret_cast<void**>(&begin_), count_ * sizeof(T)) == 0, "cudaMalloc");
    cudaMemcpy(begin_, values.data(), count_ * sizeof(T), 1);
  }
  ~OnDevice() { cudaFree(begin_); }
  OnDevice(OnDevice const&) = delete;
  operator T*() const { return begin_; }
  T* begin() const { return begin_; }
  std::vector<T> values() const {
    std::vector<T> out(count_);
    cudaMemcpy(out.data(), begin_, count_ * sizeof(T), 2);
    return out;
  }

 private:
  T* begin_ = nullptr;
  std::size_t count_;
};

// The largest difference, over the largest value.
template <class T>
double difference(std::vector<T> const& found, std::vector<T> const& expected) {
  double most = 0, largest = 1e-30;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    most = std::max(most, static_cast<double>(std::abs(found[i] - expected[i])));
    largest = std::max(largest, static_cast<double>(std::abs(expected[i])));
  }
  return most / largest;
}
