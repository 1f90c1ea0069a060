#include "launch/machine_code.hpp"

#include <fmt/format.h>

#include "diag/diag.hpp"
#include "frontend/frontend.hpp"
#include "launch/kernel_record.hpp"
#include "sass/sass.hpp"

namespace kernelcast::launch {

std::vector<record::Kernel> MachineCode::rows(record::Kernel const& row, std::vector<std::uint64_t> const& entries,
                                              ptx::Module const& module, emu::Program const& program) {
  std::vector<record::Kernel> out;
  for (auto const& target : targets_) {
    if (target == by_rules) {
      out.push_back(row);
      continue;
    }
    Code const& machine = code(module, program, row.kernel, target);
    if (entries.size() != machine.slots.blocks.size())
      throw Error(Status::bad_data, fmt::format("kernel '{}' has {} blocks, {} are counted", row.kernel,
                                                machine.slots.blocks.size(), entries.size()));
    auto& own = out.emplace_back(row);
    own.target = target;
    if (machine.registers > 0) own.registers_target = machine.registers;
    fill_slots(own, emu::slots_of(machine.slots.blocks, entries));
  }
  return out;
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
