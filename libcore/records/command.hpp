// What an application asks of its device, in order: the rows of `miniemu --attach --commands`, which a model schedules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/table/schema.hpp"
#include "records/vocabulary.hpp"

namespace kernelcast::record {

struct Command {
  std::string process;       // of the application, where it has several
  std::uint64_t number = 0;  // from 1, in each process
  CommandKind kind = CommandKind::kernel;
  std::string stream;
  std::string after;              // numbers of earlier ones, ';' between them
  std::string kernel, case_name;  // of kernels and libraries' calls: those of its row
  double bytes = 0;
  bool host_waits = false;
  double host_s = 0;                         // of the host's own since its last command
  std::optional<HostMemory> memory;          // the host's side of a copy
  std::uint64_t device = 0;                  // that it runs on, by the application's numbers
  std::optional<std::uint64_t> from_device;  // of a copy between two of them
  std::uint64_t graph = 0;                   // of a launch of a graph: its number, from 1; 0: of none
  Interface interface = Interface::cuda;
  std::string runs_on;  // as of kernels: the vendor whose devices the application asks this of; empty: any

  static Schema<Command> const& schema();
};

}  // namespace kernelcast::record
