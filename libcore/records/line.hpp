// The `line` record (`miniemu --emit lines`): where in the source the instructions, the memory traffic, the divergence
// and the bank conflicts of a kernel are. Sums over a kernel's rows are the counters of its `kernel` record.
#pragma once

#include <cstdint>
#include <string>

#include "records/table/schema.hpp"

namespace kernelcast::record {

struct Line {
  std::string kernel, case_name;
  std::string source;  // file name; the PTX where the text names no source
  std::uint64_t line = 0;
  double share_pct = 0;
  double inst_total = 0, issues_w32 = 0;
  double inst_float = 0, inst_integer = 0, inst_memory = 0;
  double global_bytes = 0, global_tx_w32_s32 = 0, global_tx_ideal = 0;
  double shared_bytes_moved = 0, shared_passes_w32_b32 = 0, shared_passes_ideal = 0;
  double local_bytes = 0;
  double branches = 0, divergent_branches_w32 = 0;
  double atomics = 0;

  static Schema<Line> const& schema();
};

}  // namespace kernelcast::record
