// An independent simulator of the same rules, tick by tick and with no cleverness, to compare the engine with.
#pragma once

#include "bench.hpp"

namespace kernelcast::model::ake {

struct ReferenceResult {
  Ticks end = 0;
  std::uint64_t instructions = 0;
};

ReferenceResult reference(Machine const&, Kernel const&, std::vector<Group const*> const& resident, Setting const&);

}  // namespace kernelcast::model::ake
