#include "emulator/launch/machine_code.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "base/diag/names.hpp"
#include "base/process/process.hpp"
#include "emulator/launch/kernel_record.hpp"
#include "emulator/observe/amd_code.hpp"
#include "kernels/frontend/frontend.hpp"
#include "kernels/sass/sass.hpp"

namespace kernelcast::launch {

MachineCode::Target MachineCode::target_of(std::string const& text) {
  auto const at = text.find('=');
  return {text.substr(0, at), at == std::string::npos ? std::string() : text.substr(at + 1)};
}

std::vector<record::Kernel> MachineCode::rows(record::Kernel const& row, Entries const& entries,
                                              ptx::Module const& module, emu::Program const& program,
                                              std::span<frontend::Request const> sources) {
  std::vector<record::Kernel> out;
  for (auto const& target : targets_) {
    auto& own = out.emplace_back(row);
    if (target.name == by_rules) continue;
    own.target = target.name;
    if (frontend::is_amd_target(target.name)) {
      if (!fill_amd(own, entries, program, sources, target.listing)) out.pop_back();
    } else {
      fill(own, code(module, program, row.kernel, target.name), entries);
    }
  }
  return out;
}

void MachineCode::fill(record::Kernel& row, Code const& machine, Entries const& entries) const {
  if (entries.w32.size() != machine.slots.blocks.size())
    throw Error(Status::bad_data, fmt::format("kernel '{}' has {} blocks, {} are counted", row.kernel,
                                              machine.slots.blocks.size(), entries.w32.size()));
  if (machine.registers > 0) row.registers_target = machine.registers;
  fill_slots(row, emu::slots_of(machine.slots.blocks, entries.w32));
}

namespace {

// Private memory as the machine code has it: what another compiler keeps in registers may be there, and the other way
// round.
void fill_private(record::Kernel& row, emu::AmdSlots const& slots, amdgcn::Resources const& resources) {
  double const requests = slots.private_loads + slots.private_stores;
  if (requests == 0 && resources.scratch_bytes > 0) return;  // by instructions that may access anything
  double const lanes = resources.wavefront, bytes = lanes * 4;
  row.local_load_bytes = slots.private_loads * bytes;
  row.local_store_bytes = slots.private_stores * bytes;
  row.group.local_requests.clear(), row.group.local_stores.clear();
  row.group.local_lines = 0;
  if (requests == 0) return;
  auto const of_group = [&](double n) {
    return fmt::format("{}/{}/{}:{:.6g}", bytes / 128, bytes / 32, lanes / 32,
                       n / static_cast<double>(std::max<std::uint64_t>(1, row.groups_emulated)));
  };
  row.group.local_requests = of_group(requests);
  if (slots.private_stores > 0) row.group.local_stores = of_group(slots.private_stores);
  double const waves = std::ceil(static_cast<double>(row.block_x * row.block_y * row.block_z) / lanes);
  row.group.local_lines = waves * lanes * static_cast<double>(resources.scratch_bytes) / 128;
}

}  // namespace

// Source by source, until one has the kernel.
amdgcn::Code const* MachineCode::amd_code(AmdCodes& codes, record::Kernel const& row,
                                          std::span<frontend::Request const> sources, std::string const& listing) {
  auto const add = [&](std::string text, std::string const& name) {
    codes.by_kernel.merge(amdgcn::read(codes.listings.emplace_back(std::move(text)), name));
  };
  if (!listing.empty() && codes.listings.empty()) add(read_file(listing), listing);
  auto found = codes.by_kernel.find(row.kernel);
  for (; found == codes.by_kernel.end() && listing.empty() && codes.sources < sources.size(); ++codes.sources) {
    auto const& source = sources[codes.sources];
    try {
      if (auto text = frontend::amd_assembly(source, row.target); text.find("@function") != std::string::npos)
        add(std::move(text), fmt::format("{} for {}", source.path, row.target));
    } catch (Error const& error) {
      if (source.hip_folder.empty()) throw;  // of an application others may do
      if (auto text = error.text("AMD's machine code"); said_.insert(text).second) report_(std::move(text));
    }
    found = codes.by_kernel.find(row.kernel);
  }
  if (found != codes.by_kernel.end()) return &found->second;
  // AMD's headers have other types for vectors, which are part of names: then the one with the same identifier.
  auto const is_same = [&](auto const& each) { return name_in_source(each.first) == name_in_source(row.kernel); };
  auto const same = std::ranges::find_if(codes.by_kernel, is_same);
  bool const one = std::ranges::count_if(codes.by_kernel, is_same) == 1;
  return one && !sources.empty() && !sources.front().hip_folder.empty() ? &same->second : nullptr;
}

bool MachineCode::fill_amd(record::Kernel& row, Entries const& entries, emu::Program const& program,
                           std::span<frontend::Request const> sources, std::string const& listing) {
  if (sources.empty() && listing.empty())
    throw Error(Status::usage,
                fmt::format("machine code for {} needs the source of kernel '{}'", row.target, row.kernel),
                "an application's kernels are PTX: leave out this target, or run their source by itself");
  auto const* const found = amd_code(amd_codes_[{&program.module(), row.target}], row, sources, listing);
  if (!found && listing.empty() && !sources.front().hip_folder.empty()) return false;  // it is said why
  if (!found)
    throw Error(Status::unavailable,
                fmt::format("machine code for {}: the assembly has no kernel '{}'", row.target, row.kernel));
  amdgcn::Code const& code = *found;
  if (code.calls) {
    report_(fmt::format(
        "kernel '{}' has no row for {}: it calls functions that clang-19 and libclc-19 do not have there{}", row.kernel,
        row.target, frontend::has_images(row.target) ? "" : "; the target has no instructions for images"));
    return false;
  }
  auto const& counted = code.resources.wavefront == 64 ? entries.w64 : entries.w32;
  if (counted.size() != program.blocks().size())
    throw Error(Status::bad_data,
                fmt::format("kernel '{}' has {} blocks, {} are counted for wavefronts of {}", row.kernel,
                            program.blocks().size(), counted.size(), code.resources.wavefront));
  auto const slots = emu::amd_slots(program, code, counted);
  row.registers_target = code.resources.vgprs;
  row.registers_matrix = code.resources.agprs;
  row.scratch_bytes = code.resources.scratch_bytes;
  // Made for wavefronts of this target, whatever the PTX exchanges within warps.
  if (!listing.empty()) row.warp_lanes.reset();
  // Private arrays may have moved to shared memory.
  row.shared_bytes += code.resources.shared_bytes;
  row.shared_bytes -= std::min<std::uint64_t>(row.shared_bytes, program.static_shared_bytes());
  fill_slots(row, slots.counts);
  fill_private(row, slots, code.resources);
  if (slots.by_rules > 0 || slots.matched * 4 < slots.instructions)
    report_(
        fmt::format("kernel '{}' for {}: {} of {} machine instructions have a line of the PTX; {} of {} blocks are "
                    "counted as those around them",
                    row.kernel, row.target, slots.matched, slots.instructions, slots.by_rules, slots.blocks));
  return true;
}

MachineCode::Code const& MachineCode::code(ptx::Module const& module, emu::Program const& program,
                                           std::string const& kernel, std::string const& target) {
  auto const [at, is_new] = codes_.try_emplace({&module, kernel, target});
  if (!is_new) return at->second;
  auto const assembled = frontend::machine_code(module, kernel, target, cache_, time_limit_s_);
  auto const listed = sass::read(assembled.listing, fmt::format("{} for {}", module.path, target));
  auto const found = listed.find(kernel);
  if (found == listed.end())
    throw Error(Status::unavailable,
                fmt::format("machine code for {}: the listing has no kernel '{}'", target, kernel));
  Code& machine = at->second;
  machine.registers = assembled.registers;
  machine.slots = emu::machine_slots(program, found->second);
  auto const& slots = machine.slots;
  if (slots.by_rules > 0)
    report_(fmt::format(
        "kernel '{}' for {}: {} of {} machine instructions have a line of the PTX; {} of {} blocks are counted by "
        "rules",
        kernel, target, slots.matched, slots.instructions, slots.by_rules, slots.blocks.size()));
  return machine;
}

}  // namespace kernelcast::launch
