// Any bytes as PTX text, and its kernels run with limits. Eight-byte parameters are buffers, others small numbers.
// Whatever the text says, the outcome is an Error, a finding, a limit or the end of the kernel. Texts of odd length run
// under the checks as well, those whose halved length is odd go on after findings.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/diag/diag.hpp"
#include "emulator/check/check.hpp"
#include "emulator/emu.hpp"
#include "emulator/observe/kernel_counters.hpp"
#include "emulator/passed_over.hpp"
#include "fuzz.hpp"
#include "kernels/ptx/parser.hpp"

namespace kernelcast::fuzz {

namespace {

constexpr std::uint64_t memory_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t buffer_bytes = 4096;
constexpr std::uint64_t max_parameter_bytes = 32764;  // PTX ISA, "Kernel Function Parameters"

std::vector<std::byte> parameters_of(ptx::Function const& kernel, emu::Memory& memory) {
  std::vector<std::byte> block(kernel.parameter_bytes);
  std::uint32_t number = 0;
  for (ptx::Parameter const& parameter : kernel.parameters) {
    std::uint64_t value = 1 + number % 7;
    if (parameter.size == 8 && number < 16) {
      value = memory.add("p" + std::to_string(number), buffer_bytes);
      auto const bytes = memory.bytes(value);
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 4 ? 0 : i / 4);
    }
    if (parameter.offset + parameter.size <= block.size())
      std::memcpy(block.data() + parameter.offset, &value, std::min<std::uint64_t>(parameter.size, sizeof value));
    ++number;
  }
  return block;
}

void emulate(ptx::Module const& module, ptx::Function const& kernel, bool checked, bool goes_on) {
  if (kernel.parameter_bytes > max_parameter_bytes) return;
  emu::Program const program(module, kernel);
  emu::Memory memory(memory_bytes);
  emu::Launch launch;
  launch.grid = {2, 1, 1};
  launch.block = {40, 2, 1};  // three warps, the last one with 16 lanes
  launch.dynamic_shared_bytes = 256;
  launch.parameters = parameters_of(kernel, memory);
  emu::KernelObserver counts(program);
  emu::CheckOptions all;
  all.uninit = all.races = all.division = true;
  all.stops = !goes_on;
  emu::Checks checks(all, memory);
  if (checked) checks.begin(program, launch);
  std::array<emu::Observer*, 2> const both{&counts, &checks};
  std::span<emu::Observer* const> const observers(both.data(), checked ? 2 : 1);
  std::array<std::uint64_t, 2> const groups{0, 1};
  emu::Limits limits;
  limits.max_steps = 20000;
  limits.max_memory_bytes = memory_bytes;
  limits.timeout_s = 2;
  emu::PassedOver passed_over;
  if (goes_on) limits.passed_over = &passed_over;
  emu::run(program, launch, memory, groups, observers, limits);
  counts.counters();
}

}  // namespace

void run_input(std::string_view input) {
  auto const module = ptx::parse(std::string(input), "fuzz.ptx");
  unsigned kernels = 0;
  for (ptx::Function const& function : module->functions)
    if (function.entry && function.has_body && kernels++ < 2) try {
        emulate(*module, function, input.size() % 2 != 0, input.size() / 2 % 2 != 0);
      } catch (Error const&) {
        // an outcome; the next kernel may have another
      }
}

}  // namespace kernelcast::fuzz
