// Launches for tests: of command lines, and as arguments of a test program.
#pragma once

#include <string_view>
#include <vector>

#include "base/process/process.hpp"
#include "emulator/launch/launch.hpp"
#include "kernels/frontend/toolchain.hpp"

namespace kernelcast {

// FILE [--set NAME=VALUE|SET]..., several in a row.
inline std::vector<launch::Plan> read_plans(char** first, char** last) {
  std::vector<launch::Plan> plans;
  while (first != last) {
    char const* const file = *first++;
    std::vector<std::string> sets;
    for (; last - first >= 2 && std::string_view(*first) == "--set"; first += 2) sets.emplace_back(first[1]);
    plans.push_back(launch::read_launch_file(file, {}, sets));
  }
  return plans;
}

// What compiles OpenCL C, and CUDA C++ by our own headers.
inline bool has_clang() {
  auto const tools = frontend::find_toolchain();
  return !tools.clang.empty() && !tools.libclc.empty();
}

// Without registers, which takes a compiler.
inline launch::Plan plain_plan(launch::CommandLine const& line) {
  auto plan = launch::plan_of(line);
  plan.request.registers = {};
  return plan;
}

// Nor with what was compiled before.
inline launch::Plan uncached_plan(launch::CommandLine const& line) {
  auto plan = plain_plan(line);
  plan.request.cache = false;
  return plan;
}

// As --groups chooses them.
inline launch::RunOptions with_groups(std::string_view text) {
  launch::RunOptions options;
  options.groups = launch::parse_groups(text);
  return options;
}

// A folder with a module of PTX.
class ModuleFolder : public TemporaryFolder {
 public:
  explicit ModuleFolder(std::string_view ptx) { write_file(module(), ptx); }
  std::string module() const { return file("m.ptx"); }
};

}  // namespace kernelcast
