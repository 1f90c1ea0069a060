// Kernels for the queue's tests.
#pragma once

#include "records/kernel.hpp"

namespace kernelcast {

// 256 work-items a group; nothing else yet.
inline record::Kernel group_kernel(std::uint64_t groups) {
  record::Kernel k;
  k.kernel = "k";
  k.case_name = "c";
  k.grid_x = k.groups_total = k.groups_emulated = groups;
  k.block_x = 256;
  k.registers_sm75 = 32;
  k.inst_total = 1;
  k.issues[record::InstructionClass::fp32] = {16, 8, 4};
  for (auto& n : k.slots) n = 0;
  k.slots[record::Pipe::fp32] = 8.0 * static_cast<double>(groups);
  k.code_slots = 1;
  k.group.slots = 8;
  for (auto& n : k.group.path) n = 0;
  return k;
}

// Each work-item loads and stores one word.
inline record::Kernel stream_kernel(std::uint64_t groups) {
  auto k = group_kernel(groups);
  k.group.load_requests = k.group.store_requests = "1/4/1:8";
  k.group.load_sectors = k.group.store_sectors = "x:32";
  k.group.load_lines = k.group.store_lines = "x:8";
  k.group.path[record::Step::miss] = 1;
  k.global_footprint_bytes = 2048.0 * static_cast<double>(groups);
  return k;
}

}  // namespace kernelcast
