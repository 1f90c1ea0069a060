// What the modifiers of a memory instruction say. Internal to the decoder.
#pragma once

#include <string_view>
#include <vector>

#include "emulator/decode/decode.hpp"

namespace kernelcast::emu {

struct AccessModifiers {
  ptx::StateSpace space = ptx::StateSpace::generic;
  ptx::Type type = ptx::Type::none;
  unsigned elements = 1;
  bool cache_hint = false;               // the last operand is a cache policy
  std::vector<std::string_view> others;  // operations; what changes nothing here is left out
};

// Cache operators, volatility, orderings, scopes and hints change nothing: groups run one after the other, and lanes in
// lock step. Throws Unsupported for what is none of them.
AccessModifiers read_access(ptx::Instruction const&);

}  // namespace kernelcast::emu
