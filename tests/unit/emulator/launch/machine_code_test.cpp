// Rules for PTX against the machine code of the same kernels, where ptxas and nvdisasm are.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "catch.hpp"
#include "emulator/observe/lowering.hpp"
#include "emulator/observe/machine_code.hpp"
#include "kernels/frontend/frontend.hpp"
#include "kernels/frontend/toolchain.hpp"
#include "kernels/ptx/cfg.hpp"

using namespace kernelcast;
using record::Pipe;

namespace {

using Slots = record::PerPipe<double>;

// Slots of a kernel whose loops run ten times.
template <class OfBlock>
Slots weighted(emu::Program const& program, OfBlock of_block) {
  auto const cfg = ptx::build_cfg(program.kernel());
  Slots out;
  auto const blocks = program.blocks();
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].first >= blocks[b].last) continue;
    double const runs = std::pow(10, cfg.blocks[cfg.block_of[blocks[b].first]].loop_depth);
    Slots const slots = of_block(b);
    for (auto const pipe : record::values_of<Pipe>) out[pipe] += runs * slots[pipe];
  }
  return out;
}

// Clocks of a quarter of a unit of compute capability 8.6 for a slot; issue: of any.
double clocks(Slots const& slots, Pipe pipe) {
  static std::map<Pipe, double> const per_slot{{Pipe::fp32, 1},        {Pipe::imad, 2},        {Pipe::alu, 2},
                                               {Pipe::fp16, 1},        {Pipe::fp64, 64},       {Pipe::convert64, 64},
                                               {Pipe::special, 8},     {Pipe::memory, 4},      {Pipe::tensor, 4},
                                               {Pipe::int_to_fp32, 2}, {Pipe::fp32_to_fp16, 1}};
  if (pipe != Pipe::issue) return slots[pipe] * per_slot.at(pipe);
  double sum = 0;
  for (double const n : slots) sum += n;
  return sum;
}

}  // namespace

TEST_CASE("rules give the slots of the pipe that binds") {
  auto const tools = frontend::find_toolchain();
  if (tools.ptxas.empty() || tools.nvdisasm.empty() || tools.clang.empty() || tools.libclc.empty())
    SKIP_BECAUSE("no ptxas, nvdisasm or clang-19");
  std::vector<double> errors;
  for (char const* name : {"syr2k", "fdtd2d", "corr", "gramschmidt", "lu", "adi", "jacobi2d", "doitgen"}) {
    frontend::Request request;
    request.path = std::string(KERNELCAST_SOURCE_DIR) + "/bench-suites/polybench/" + name + ".cl";
    request.registers = {};
    auto const compiled = frontend::compile(request);
    for (auto const& kernel : compiled.kernels) {
      INFO(kernel.name);
      auto const assembled = frontend::machine_code(*compiled.module, kernel.name, "sm_86", true, 300);
      CHECK(assembled.registers > 0);
      auto const codes = sass::read(assembled.listing, kernel.name);
      emu::Program const program(*compiled.module, *compiled.module->find_kernel(kernel.name));
      auto const machine = emu::machine_slots(program, codes.at(kernel.name));
      CHECK(machine.matched + 4 >= machine.instructions);  // but for the stack pointer and the like
      auto const rules = emu::lower(program);
      auto const actual = weighted(program, [&](std::uint32_t b) { return machine.blocks[b]; });
      auto const ours = weighted(program, [&](std::uint32_t b) {
        Slots out;
        for (std::uint32_t i = program.blocks()[b].first; i < program.blocks()[b].last; ++i)
          for (auto const pipe : record::values_of<Pipe>) out[pipe] += rules[i].slots[pipe];
        return out;
      });
      Pipe binds = Pipe::issue;
      for (auto const pipe : record::values_of<Pipe>)
        if (!record::is_of_amd(pipe) && clocks(actual, pipe) > clocks(actual, binds)) binds = pipe;
      errors.push_back(std::abs(clocks(ours, binds) / clocks(actual, binds) - 1));
      CHECK(errors.back() < 0.5);
    }
  }
  REQUIRE(errors.size() > 12);
  std::sort(errors.begin(), errors.end());
  CHECK(errors[errors.size() / 2] < 0.1);
  CHECK(errors[errors.size() * 9 / 10] < 0.3);
}
