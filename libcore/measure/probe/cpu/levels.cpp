// Which instruction sets this processor has, and kernels that need none of them.
#include "../../../../microbench/cpu/kernels.hpp"
#include "measure/probe/cpu/kernels.hpp"

namespace kernelcast::probe::cpu {

std::vector<Kernels const*> levels() {
  std::vector<Kernels const*> out{&base::kernels};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) out.push_back(&v3::kernels);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) out.push_back(&v4::kernels);
#endif
  return out;
}

void count_clocks(std::uint64_t steps) {
  std::uint64_t x = steps;
  for (std::uint64_t i = 0; i < steps; i += 16) {
#pragma GCC unroll 16
    for (int u = 0; u < 16; ++u) {
      // An addition that the compiler can neither merge nor move, of a value that is not a constant: register renaming
      // may take several additions of a small constant at once.
#if defined(__x86_64__)
      asm volatile("add %1, %0" : "+r"(x) : "r"(i));
#else
      x += i;
      asm volatile("" : "+r"(x));
#endif
    }
  }
}

void* chase(void* p, std::uint64_t steps) {
  return microbench::chase(p, steps);
}

}  // namespace kernelcast::probe::cpu
