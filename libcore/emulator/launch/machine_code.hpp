// Rows of kernels with the issue slots and registers of their machine code.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "emulator/emu.hpp"
#include "emulator/observe/machine_code.hpp"
#include "kernels/amdgcn/amdgcn.hpp"
#include "kernels/frontend/frontend.hpp"
#include "kernels/ptx/module.hpp"
#include "records/kernel.hpp"

namespace kernelcast::launch {

class MachineCode {
 public:
  static constexpr std::string_view by_rules = "ptx";  // among targets: the row as it is, for all others

  // Of "gfx942", or "gfx942=FILE": machine code that another compiler made of the same source.
  struct Target {
    std::string name, listing;
  };
  static Target target_of(std::string const& text);

  // `report` is called with what is counted by rules all the same.
  MachineCode(std::vector<std::string> const& targets, bool cache, double time_limit_s,
              std::function<void(std::string)> report)
      : cache_(cache), time_limit_s_(time_limit_s), report_(std::move(report)) {
    for (auto const& text : targets) targets_.push_back(target_of(text));
  }

  bool wanted() const { return !targets_.empty(); }

  // How often wavefronts of 32 and of 64 entered the program's blocks in the emulated groups; those of 64 may be
  // absent.
  struct Entries {
    std::vector<std::uint64_t> w32, w64 = {};
  };
  // One row a target: `row`, the counts of a kernel of the module. AMD's machine code needs the source of the module,
  // or the sources that may be; no row where it calls what is not there, and of HIP where it cannot be made. Throws
  // Error: unavailable (a compiler or nvdisasm is not there, or refuses the target), usage (no source), bad_data (not
  // as many entries as blocks).
  std::vector<record::Kernel> rows(record::Kernel const& row, Entries const&, ptx::Module const&, emu::Program const&,
                                   std::span<frontend::Request const> sources);

 private:
  struct Code {
    emu::MachineSlots slots;
    std::uint64_t registers = 0;
  };
  struct AmdCodes {
    std::list<std::string> listings;
    std::map<std::string, amdgcn::Code> by_kernel;  // views into the listings
    std::size_t sources = 0;                        // that were compiled
  };
  Code const& code(ptx::Module const&, emu::Program const&, std::string const& kernel, std::string const& target);
  void fill(record::Kernel& row, Code const&, Entries const&) const;
  bool fill_amd(record::Kernel& row, Entries const&, emu::Program const&, std::span<frontend::Request const> sources,
                std::string const& listing);
  amdgcn::Code const* amd_code(AmdCodes&, record::Kernel const&, std::span<frontend::Request const> sources,
                               std::string const& listing);

  std::vector<Target> targets_;
  bool cache_;
  double time_limit_s_;
  std::function<void(std::string)> report_;
  std::set<std::string> said_;                                                      // of sources of HIP
  std::map<std::tuple<ptx::Module const*, std::string, std::string>, Code> codes_;  // by module, kernel and target
  std::map<std::pair<ptx::Module const*, std::string>, AmdCodes> amd_codes_;        // by module and target
};

}  // namespace kernelcast::launch
