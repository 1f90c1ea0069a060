// Chooses the instruction-set level at the first use.
#include "emu/observe/counting.hpp"

#include <cstdlib>
#include <string_view>

namespace kernelcast::emu {

#ifdef KERNELCAST_EMU_LEVELS
namespace avx2 {
GlobalCounts count_global(WaveAccess const&);
SharedCounts count_shared(WaveAccess const&);
void record_global(AccessSite&, MemoryAccess const&, Footprint&);
void record_shared(AccessSite&, MemoryAccess const&);
}  // namespace avx2
namespace avx512 {
GlobalCounts count_global(WaveAccess const&);
SharedCounts count_shared(WaveAccess const&);
void record_global(AccessSite&, MemoryAccess const&, Footprint&);
void record_shared(AccessSite&, MemoryAccess const&);
}  // namespace avx512
#endif

namespace {

Counting choose() {
  Counting chosen{base::count_global, base::count_shared, base::record_global, base::record_shared};
#ifdef KERNELCAST_EMU_LEVELS
  char const* const limit = std::getenv("KERNELCAST_ISA");
  std::string_view const most = limit ? limit : "avx512";
  __builtin_cpu_init();
  if (most != "base" && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
    chosen = {avx2::count_global, avx2::count_shared, avx2::record_global, avx2::record_shared};
  if (most == "avx512" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd"))
    chosen = {avx512::count_global, avx512::count_shared, avx512::record_global, avx512::record_shared};
#endif
  return chosen;
}

}  // namespace

Counting const& counting() {
  static Counting const chosen = choose();
  return chosen;
}

GlobalCounts count_global(WaveAccess const& wave) {
  return counting().count_global(wave);
}
SharedCounts count_shared(WaveAccess const& wave) {
  return counting().count_shared(wave);
}

}  // namespace kernelcast::emu
