// Random OpenCL C kernels (../../differential) counted by the emulator, by minimal counters in their code and by one
// counter in every block; the three must agree on every opcode. Usage: counting_random COUNT
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include <fmt/format.h>

#include "../../launches.hpp"
#include "base/diag/diag.hpp"
#include "base/process/process.hpp"
#include "generator.hpp"
#include "measure/flux/run.hpp"

using namespace kernelcast;
namespace dt = kernelcast::differential;

namespace {

constexpr std::uint64_t per_file = 50;  // compiled together, as one kernel that does what all of them do

using Counted = std::map<std::string, std::uint64_t>;

Counted lanes_of(flux::CountedRun const& run) {
  Counted out;
  for (auto const& [opcode, lanes, warps] : flux::by_opcode(run.module, run.counts)) out[opcode] = lanes;
  return out;
}

bool agree(std::uint64_t first_seed, std::string const& folder) {
  std::vector<dt::Kernel> kernels;
  for (std::uint64_t k = 0; k < per_file; ++k) kernels.push_back(dt::random_kernel(first_seed + k));
  frontend::Request request;
  request.path = folder + "/kernels.cl";
  request.cache = false;
  request.registers.clear();
  std::ofstream(request.path) << dt::source_of(kernels);
  auto const path = folder + "/kernels.ptx";  // compiled once
  std::ofstream(path) << frontend::compile_text(request).ptx;
  constexpr std::uint64_t items = dt::group_items * dt::groups;
  auto const plan =
      plain_plan({.path = path,
                  .kernel = "everything",
                  .global = std::to_string(items),
                  .local = std::to_string(dt::group_items),
                  .arguments = {fmt::format("buf:u64:{}:zero", per_file * items * dt::result_words),
                                fmt::format("buf:u32:{}:random", dt::input_words),
                                fmt::format("buf:u32:{}:zero", per_file * dt::sum_words),
                                fmt::format("buf:u8:{}:zero", per_file * items * dt::variable_bytes), "i32:3"}});
  launch::RunOptions const options;
  Counted emulator, minimal, every;
  flux::count(plan, options, flux::Sample::all, [&](auto const& run) { emulator = lanes_of(run); });
  flux::count_instrumented(plan, options, {}, [&](auto const& run) { minimal = lanes_of(run); });
  flux::PlanOptions blocks;
  blocks.scheme = flux::Scheme::every_block;
  flux::count_instrumented(plan, options, blocks, [&](auto const& run) { every = lanes_of(run); });
  if (emulator == minimal && emulator == every && !emulator.empty()) return true;
  for (auto const& [opcode, lanes] : emulator)
    if (minimal[opcode] != lanes || every[opcode] != lanes)
      fmt::print(stderr, "seeds from {}: {}: emulator {}, minimal {}, every block {}\n", first_seed, opcode, lanes,
                 minimal[opcode], every[opcode]);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t const count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : per_file;
  bool good = true;
  try {
    TemporaryFolder const folder;
    for (std::uint64_t seed = 1; seed <= count; seed += per_file) good &= agree(seed, folder.path().string());
    fmt::print("{} kernels: {}\n", count, good ? "all ways of counting agree" : "they differ");
  } catch (Error const& error) {
    bool const no_compiler = error.status() == Status::unavailable;
    fmt::print("{}{}", no_compiler ? "kernelcast-skipped: " : "", error.text("counting_random"));
    good = no_compiler;
  }
  return good ? 0 : 1;
}
