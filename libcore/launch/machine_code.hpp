// Rows of kernels with the issue slots and registers of their machine code.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "emu/emu.hpp"
#include "emu/observe/machine_code.hpp"
#include "ptx/module.hpp"
#include "record/kernel.hpp"

namespace kernelcast::launch {

class MachineCode {
 public:
  static constexpr std::string_view by_rules = "ptx";  // among targets: the row as it is, for all others

  // `report` is called with what is counted by rules all the same.
  MachineCode(std::vector<std::string> targets, bool cache, double time_limit_s,
              std::function<void(std::string)> report)
      : targets_(std::move(targets)), cache_(cache), time_limit_s_(time_limit_s), report_(std::move(report)) {}

  bool wanted() const { return !targets_.empty(); }

  // One row a target: `row`, the counts of a kernel of the module, whose wavefronts of 32 entered the program's blocks
  // so often in the emulated groups. Throws Error: unavailable (ptxas or nvdisasm is not there, or refuses the target),
  // bad_data (not as many entries as blocks).
  std::vector<record::Kernel> rows(record::Kernel const& row, std::vector<std::uint64_t> const& entries,
                                   ptx::Module const&, emu::Program const&);

 private:
  struct Code {
    emu::MachineSlots slots;
    std::uint64_t registers = 0;
  };
  Code const& code(ptx::Module const&, emu::Program const&, std::string const& kernel, std::string const& target);

  std::vector<std::string> targets_;
  bool cache_;
  double time_limit_s_;
  std::function<void(std::string)> report_;
  std::map<std::tuple<ptx::Module const*, std::string, std::string>, Code> codes_;  // by module, kernel and target
};

}  // namespace kernelcast::launch
