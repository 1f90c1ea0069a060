// Chooses the instruction-set level: the interpreter's own (emu::isa_level()).
#include "emulator/observe/counting.hpp"

namespace kernelcast::emu {

#ifdef KERNELCAST_EMU_LEVELS
#define KERNELCAST_COUNTING_LEVEL(level)                            \
  namespace level {                                                 \
  GlobalCounts count_global(WaveAccess const&);                     \
  SharedCounts count_shared(WaveAccess const&);                     \
  void record_global(AccessSite&, MemoryAccess const&, Footprint&); \
  void record_shared(AccessSite&, MemoryAccess const&);             \
  }
KERNELCAST_COUNTING_LEVEL(v3)
KERNELCAST_COUNTING_LEVEL(v4)
#endif

Counting const& counting() {
  static constexpr Counting any{base::count_global, base::count_shared, base::record_global, base::record_shared};
#ifdef KERNELCAST_EMU_LEVELS
  static constexpr Counting avx2{v3::count_global, v3::count_shared, v3::record_global, v3::record_shared};
  static constexpr Counting avx512{v4::count_global, v4::count_shared, v4::record_global, v4::record_shared};
  if (isa_level() == "v4") return avx512;
  if (isa_level() == "v3") return avx2;
#endif
  return any;
}

GlobalCounts count_global(WaveAccess const& wave) {
  return counting().count_global(wave);
}
SharedCounts count_shared(WaveAccess const& wave) {
  return counting().count_shared(wave);
}

}  // namespace kernelcast::emu
