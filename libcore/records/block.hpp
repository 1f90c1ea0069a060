// The `block` record (`miniemu --emit blocks`): how often each basic block of a kernel is executed, and by how many.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/table/schema.hpp"

namespace kernelcast::record {

struct Block {
  std::string kernel, case_name;
  std::uint64_t block = 0;
  std::uint64_t ptx_first_line = 0, ptx_last_line = 0;
  std::string source;
  std::optional<std::uint64_t> line;
  double share_pct = 0;
  double entered_lanes = 0, entered_w32 = 0, entered_groups = 0;
  double inst_total = 0, issues_w32 = 0;

  static Schema<Block> const& schema();
};

}  // namespace kernelcast::record
