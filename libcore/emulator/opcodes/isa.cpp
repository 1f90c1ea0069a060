// Chooses the handlers: the highest instruction-set level that this build has and this machine offers.
// KERNELCAST_ISA=v2, v3 or v4 asks for a lower one; all levels give the same bits.
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag/diag.hpp"
#include "base/process/variables.hpp"
#include "emulator/opcodes/opcodes.hpp"

namespace kernelcast::emu {

#define KERNELCAST_LEVEL(level) \
  namespace level {             \
  Handlers const& handlers();   \
  }
// Which levels this build has is said by CMakeLists.txt.
#ifdef KERNELCAST_EMU_V2
KERNELCAST_LEVEL(v2)
#endif
#ifdef KERNELCAST_EMU_V3
KERNELCAST_LEVEL(v3)
#endif
#ifdef KERNELCAST_EMU_V4
KERNELCAST_LEVEL(v4)
#endif
#ifdef KERNELCAST_EMU_BASE
KERNELCAST_LEVEL(base)
#endif

std::vector<std::string> isa_levels() {
  std::vector<std::string> levels;
#ifdef KERNELCAST_EMU_BASE
  levels.emplace_back("base");
#endif
#ifdef KERNELCAST_EMU_V2
  levels.emplace_back("v2");
#endif
#ifdef KERNELCAST_EMU_V3
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
    levels.emplace_back("v3");
#endif
#ifdef KERNELCAST_EMU_V4
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    levels.emplace_back("v4");
#endif
  return levels;
}

namespace {

Handlers const* of_level(std::string_view level) {
#ifdef KERNELCAST_EMU_V4
  if (level == "v4") return &v4::handlers();
#endif
#ifdef KERNELCAST_EMU_V3
  if (level == "v3") return &v3::handlers();
#endif
#ifdef KERNELCAST_EMU_V2
  if (level == "v2") return &v2::handlers();
#endif
#ifdef KERNELCAST_EMU_BASE
  if (level == "base") return &base::handlers();
#endif
  return nullptr;
}

Handlers const* choose(std::string const& wanted) {
  std::vector<std::string> const levels = isa_levels();
  if (wanted.empty()) return of_level(levels.back());
  for (std::string const& level : levels)
    if (level == wanted) return of_level(level);
  throw Error(Status::unavailable, "instruction-set level '" + wanted + "' is not available here",
              did_you_mean(wanted, levels));
}

Handlers const*& chosen() {
  static Handlers const* current = [] {
    char const* wanted = std::getenv(variables::isa);
    return choose(wanted ? wanted : "");
  }();
  return current;
}

}  // namespace

void use_isa_level(std::string const& level) {
  chosen() = choose(level);
}
std::string_view isa_level() {
  return chosen()->level;
}
Handlers const& best_handlers() {
  return *chosen();
}

}  // namespace kernelcast::emu
