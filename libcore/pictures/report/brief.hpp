// The answer in some lines of text, for a terminal: which device, how fast, how sure, what limits it, what is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/command.hpp"
#include "records/device/device.hpp"
#include "records/kernel.hpp"
#include "records/projection.hpp"
#include "records/ranking.hpp"

namespace kernelcast::report {

struct Brief {
  std::string subject;  // what is asked about, as the user wrote it
  bool is_application = false;
  bool has_commands = false;  // launches as issued, copies and overlap count
  bool is_cuda = false;
  std::string run_as;  // of an application run as a device of each vendor: as which, and how they differ
  std::vector<record::Kernel> kernels;
  std::vector<record::Command> commands;
  std::vector<record::Projection> projections;
  std::vector<record::PricedRanking> ranking;  // of the whole, in order
  std::string by;                              // time, cost or energy
  std::string host, link, system;              // options of rank, which the times are of; empty: none was given
  std::size_t top = 0;                         // devices to name; 0: as many as fit ten lines
  std::string cut;                             // where launches may have run in part: after which time
};

// `ranking` is not empty.
std::string text_of(Brief const&, device::DeviceDatabase const&);

}  // namespace kernelcast::report
