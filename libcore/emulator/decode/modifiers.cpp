// Reads the modifiers of memory instructions.
#include "emulator/decode/modifiers.hpp"

#include <algorithm>

namespace kernelcast::emu {

namespace {

using ptx::StateSpace;

struct SpaceName {
  std::string_view name;
  StateSpace space;
};
// A cluster has one CTA: its shared memory is the CTA's own.
constexpr SpaceName spaces[] = {
    {"global", StateSpace::global},      {"shared", StateSpace::shared},
    {"shared::cta", StateSpace::shared}, {"shared::cluster", StateSpace::shared},
    {"local", StateSpace::local},        {"const", StateSpace::constant},
    {"param", StateSpace::param},        {"param::entry", StateSpace::param},
    {"param::func", StateSpace::param},
};

constexpr std::string_view without_effect[] = {
    // orderings, scopes; an asynchronous access is done when it is issued
    "async", "weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "cta", "cluster", "gpu", "sys",
    // caches
    "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "unified", "L1::evict_normal", "L1::evict_unchanged",
    "L1::evict_first", "L1::evict_last", "L1::no_allocate", "L2::evict_normal", "L2::evict_first", "L2::evict_last",
    "L2::evict_unchanged", "L2::64B", "L2::128B", "L2::256B"};

}  // namespace

AccessModifiers read_access(ptx::Instruction const& i) {
  AccessModifiers result;
  for (std::string_view const m : i.modifiers) {
    auto const space =
        std::find_if(std::begin(spaces), std::end(spaces), [&](SpaceName const& s) { return s.name == m; });
    if (space != std::end(spaces))
      result.space = space->space;
    else if (m == "v2" || m == "v4" || m == "v8")
      result.elements = static_cast<unsigned>(m[1] - '0');
    else if (m == "L2::cache_hint")
      result.cache_hint = true;
    else if (ptx::Type const type = type_named(m); type != ptx::Type::none)
      result.type = type;
    else if (std::find(std::begin(without_effect), std::end(without_effect), m) == std::end(without_effect))
      result.others.push_back(m);
  }
  return result;
}

}  // namespace kernelcast::emu
