// The CPU kernels of one instruction set, behind plain functions; microbench/cpu/ has their bodies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kernelcast::probe::cpu {

enum class Arithmetic : std::uint8_t {
  fma_fp32,
  fma_fp64,
  mix_fp32,
  mix_fp64,
  add_fp32,
  add_fp64,
  mul_fp32,
  mul_fp64,
  add_int32,
  mul_int32,
  div_fp32,
  div_fp64
};

struct Kernels {
  std::string_view level;  // base, v3 (AVX2, FMA), v4 (AVX-512)
  unsigned vector_bytes = 16;
  bool fused = false;  // multiply-add is one instruction
  // Runs `iterations` of the kernel on random state; `latency`: one chain, else as many as keep the units busy.
  void (*arithmetic)(Arithmetic, bool latency, std::uint64_t iterations, std::uint64_t seed) = nullptr;
  int chains = 0, unroll = 0;  // of the throughput forms; `unroll` of both
  // [count] words of 8 bytes, count a multiple of 64, aligned to 64 bytes.
  std::uint64_t (*read)(std::uint64_t const*, std::size_t count) = nullptr;
  void (*write)(std::uint64_t*, std::size_t count, std::uint64_t value) = nullptr;
  void (*write_stream)(std::uint64_t*, std::size_t count, std::uint64_t value) = nullptr;
  void (*copy)(std::uint64_t*, std::uint64_t const*, std::size_t count) = nullptr;
  void (*copy_stream)(std::uint64_t*, std::uint64_t const*, std::size_t count) = nullptr;
  void (*triad)(double*, double const*, double const*, double s, std::size_t count) = nullptr;
  // Words of 4, 8 or 16 bytes of a working set of 2^bits words; accesses first … first + count of the pattern.
  // shift 0 … 5: every 2^shift-th word; -1: scattered.
  std::uint64_t (*read_pattern)(void const*, unsigned word_bytes, unsigned bits, int shift, std::uint64_t first,
                                std::uint64_t count) = nullptr;
  void (*write_pattern)(void*, unsigned word_bytes, unsigned bits, int shift, std::uint64_t first,
                        std::uint64_t count) = nullptr;
};

// What this processor can run, the best last; never empty.
std::vector<Kernels const*> levels();

namespace base {
extern Kernels const kernels;
}
namespace v3 {
extern Kernels const kernels;
}
namespace v4 {
extern Kernels const kernels;
}

// Any instruction set: a chain of additions, one per clock; steps is a multiple of 16.
void count_clocks(std::uint64_t steps);
void* chase(void* p, std::uint64_t steps);

}  // namespace kernelcast::probe::cpu
