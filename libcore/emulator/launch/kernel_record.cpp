#include "emulator/launch/kernel_record.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "records/table/table.hpp"

namespace kernelcast::launch {

void fill_counters(record::Kernel& row, emu::KernelCounters const& k) {
  double const factor = static_cast<double>(row.groups_total) / static_cast<double>(row.groups_emulated);
  auto const scaled = [&](std::uint64_t count) {
    return row.groups_total == row.groups_emulated ? static_cast<double>(count) : static_cast<double>(count) * factor;
  };
  row.inst_total = scaled(k.inst_total());
  for (auto const c : record::values_of<record::InstructionClass>) {
    row.inst[c] = scaled(k.inst[c]);
    for (std::size_t w = 0; w < 3; ++w) row.issues[c][w] = scaled(k.issues[c][w]);
  }
  for (auto const& [to, from] :
       {std::pair{&record::Kernel::branches, &emu::KernelCounters::branches},
        {&record::Kernel::divergent_branches_w32, &emu::KernelCounters::divergent_branches_w32},
        {&record::Kernel::divergent_branches_w64, &emu::KernelCounters::divergent_branches_w64},
        {&record::Kernel::global_load_bytes, &emu::KernelCounters::global_load_bytes},
        {&record::Kernel::global_store_bytes, &emu::KernelCounters::global_store_bytes},
        {&record::Kernel::shared_load_bytes, &emu::KernelCounters::shared_load_bytes},
        {&record::Kernel::shared_store_bytes, &emu::KernelCounters::shared_store_bytes},
        {&record::Kernel::local_load_bytes, &emu::KernelCounters::local_load_bytes},
        {&record::Kernel::local_store_bytes, &emu::KernelCounters::local_store_bytes},
        {&record::Kernel::param_bytes, &emu::KernelCounters::param_bytes},
        {&record::Kernel::const_bytes, &emu::KernelCounters::const_bytes},
        {&record::Kernel::texture_bytes, &emu::KernelCounters::texture_bytes},
        {&record::Kernel::atomics_global, &emu::KernelCounters::atomics_global},
        {&record::Kernel::atomics_shared, &emu::KernelCounters::atomics_shared},
        {&record::Kernel::barriers, &emu::KernelCounters::barriers}})
    row.*to = scaled(k.*from);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      row.global_load_tx[i][j] = scaled(k.global_load_tx[i][j]);
      row.global_store_tx[i][j] = scaled(k.global_store_tx[i][j]);
      row.shared_load_passes[i][j] = scaled(k.shared_load_passes[i][j]);
      row.shared_store_passes[i][j] = scaled(k.shared_store_passes[i][j]);
    }
    row.global_load_cc13[i] = scaled(k.global_load_cc13[i]);
    row.global_store_cc13[i] = scaled(k.global_store_cc13[i]);
  }
  row.global_load_rounds = scaled(k.global_load_rounds);
  fill_slots(row, k);
  row.atomic_max_same_address = std::max(scaled(k.atomic_max_global), static_cast<double>(k.atomic_max_shared));
}

void fill_slots(record::Kernel& row, emu::SlotCounts const& k) {
  double const scale = row.groups_total == row.groups_emulated
                           ? 1
                           : static_cast<double>(row.groups_total) / static_cast<double>(row.groups_emulated);
  bool const of_amd = frontend::is_amd_target(row.target);
  auto const sum = [&] {
    double slots = 0;
    for (auto const& n : row.slots) slots += n.value_or(0);
    return slots;
  };
  double const before = sum();
  for (auto const pipe : record::values_of<record::Pipe>)
    if (of_amd || !record::is_of_amd(pipe)) row.slots[pipe] = k.slots[pipe] * scale;
  row.code_slots = k.code_slots;
  if (of_amd || !k.matrix_flop.empty()) {  // machine code of NVIDIA's has the products of its PTX
    row.matrix_flop.clear();
    for (auto const& [kind, flop] : k.matrix_flop)
      row.matrix_flop +=
          fmt::format("{}{}:{}", row.matrix_flop.empty() ? "" : ";", kind, record::number_text(flop * scale));
  }
  // The group that was profiled stays to the mean one as it was, in the slots of this target.
  if (row.group.slots && before > 0) *row.group.slots *= sum() / before;
}

void fill_sizes(record::Kernel& row, emu::Dim3 const& grid, emu::Dim3 const& block) {
  std::tie(row.grid_x, row.grid_y, row.grid_z) = std::tie(grid.x, grid.y, grid.z);
  std::tie(row.block_x, row.block_y, row.block_z) = std::tie(block.x, block.y, block.z);
}

std::string size_text(emu::Dim3 const& size, unsigned dimensions) {
  return dimensions <= 1   ? fmt::format("{}", size.x)
         : dimensions == 2 ? fmt::format("{}x{}", size.x, size.y)
                           : fmt::format("{}x{}x{}", size.x, size.y, size.z);
}

std::string sizes_text(emu::Dim3 const& global, emu::Dim3 const& block, unsigned dimensions) {
  return size_text(global, dimensions) + "/" + size_text(block, dimensions);
}

double footprint_bytes(double touched_bytes, double growth, std::uint64_t memory_bytes) {
  return std::min(touched_bytes * growth, std::max(touched_bytes, static_cast<double>(memory_bytes)));
}

void fill_warp(record::Kernel& row, ptx::Function const& kernel, std::string const& source) {
  using enum ptx::Op;
  if (frontend::is_opencl(source)) return;
  for (auto const& i : kernel.instructions) {
    if (!i.is(shfl, vote, match, redux, activemask)) continue;
    bool const of_two_warps = std::ranges::any_of(ptx::wavefront_pragmas, [&](auto name) { return i.has(name); });
    std::uint64_t const lanes = of_two_warps ? 2 * emu::lanes_per_warp : emu::lanes_per_warp;
    row.warp_lanes = std::min(row.warp_lanes.value_or(lanes), lanes);
  }
}

std::string architecture_alone(ptx::Module const& module) {
  if (module.targets.empty()) return {};
  auto const target = module.targets.front();
  return target.ends_with('a') || target.ends_with('f') ? std::string(target) : std::string();
}

void fill_registers(record::Kernel& row, frontend::Registers const& registers) {
  row.registers_ptx = registers.ptx;
  row.registers_sm75.reset();
  row.registers.clear();
  for (auto const& target : frontend::register_targets()) {
    auto const found = registers.ptxas.find(target);
    if (found == registers.ptxas.end()) continue;
    if (target == "sm_75") row.registers_sm75 = found->second.registers;
    row.registers += fmt::format("{}{}:{}", row.registers.empty() ? "" : ";", target, found->second.registers);
  }
  row.vgprs_gfx6 = registers.vgprs_gfx6;
  row.vgprs_gfx90a = registers.vgprs_gfx90a;
  row.vgprs_gfx1030 = registers.vgprs_gfx1030;
  row.gprs_cypress = registers.gprs_cypress;
  row.vliw_ops_per_bundle = registers.vliw_ops_per_bundle;
}

void leave_out_local_memory(record::Kernel& row, frontend::Registers const& registers) {
  auto const& ptxas = registers.ptxas;
  if (ptxas.empty() || std::ranges::any_of(ptxas, [](auto const& one) { return one.second.stack_bytes > 0; })) return;
  row.local_load_bytes = row.local_store_bytes = 0;
  row.group.local_requests.clear();
  if (row.group.local_lines) row.group.local_lines = 0;
}

}  // namespace kernelcast::launch
