// What the CUDA runtime on the emulator has left in a spool, seen from outside of the application.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/launch/machine_code.hpp"
#include "kernels/frontend/frontend.hpp"
#include "records/kernel.hpp"
#include "runtimes/attach/spool_reader.hpp"

namespace kernelcast::attach {

// Rows that the runtime on the emulator leaves in a spool (rows.hpp), one launch each, with registers of the compilers
// that are there, and that are asked for. With `machine_code` (which must outlive it; or null) each launch has a row
// for each of its targets.
class RowReader {
 public:
  RowReader(SpoolReader const& spool, bool cache, std::vector<std::string> registers,
            launch::MachineCode* machine_code = nullptr)
      : spool_(spool), cache_(cache), registers_(std::move(registers)), machine_code_(machine_code) {}

  std::vector<Spooled> rows() const { return spool_.files("row-", ".csv"); }

  // Without registers. Throws Error.
  record::Kernel read_row(Spooled const&) const;
  // Throws Error where the row, its program or a compiler fails.
  record::Kernel read(Spooled const&);
  std::vector<record::Kernel> read_targets(Spooled const&);
  // The same, but empty where a compiler would have to run.
  std::optional<record::Kernel> recall(Spooled const&);

 private:
  using Kernels = std::vector<frontend::KernelInfo>;
  struct Code {
    std::string program, kernel;  // its file, empty where there is none; its name there, the row may have another
    std::string object;           // of HIP: the application's file that holds the program
  };
  Code code_of(Spooled const&) const;
  frontend::Request request_for(std::string const& program) const;

  SpoolReader const& spool_;
  bool cache_;
  std::vector<std::string> registers_;  // targets
  launch::MachineCode* machine_code_;
  std::vector<frontend::Request> const& sources_in(std::string const& object);

  std::map<std::string, Kernels> programs_;                        // by file
  std::map<std::string, std::vector<frontend::Request>> sources_;  // by object
  std::map<std::string, std::unique_ptr<ptx::Module>> modules_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<emu::Program>> kernels_;  // by file and name there
};

// All rows in a spool, by process and number. What cannot be read is reported.
using RowsByLaunch = std::map<std::pair<std::string, std::uint64_t>, record::Kernel>;
RowsByLaunch rows_in(SpoolReader const&, bool cache, std::vector<std::string> const& registers,
                     std::function<void(std::string_view)> const& report);

}  // namespace kernelcast::attach
