// The process that counts launches: it takes them from a spool as they arrive, and leaves their counts there.
//
//   counted-PID-N.csv   the `kernel` row of one launch of launch-PID-N.toml, with what it took; whole from the moment
//                       that it is there. Where the launch failed, kernel and case alone, and why.
//
// An application in CUDA that runs on the emulator has counted its launches itself (row-PID-N.csv): what they lack are
// registers, which compilers report.
//
// It is a process of its own so that it can be held back (budget.hpp), and so that a fault in it affects no other
// process.
#pragma once

#include <string>

#include "emulator/launch/launch.hpp"
#include "records/kernel.hpp"
#include "runtimes/attach/spool_reader.hpp"

namespace kernelcast::advise {

struct WorkerOptions {
  launch::GroupChoice groups;
  emu::Limits limits;
  bool cache = true;
  std::vector<std::string> registers = frontend::register_targets();
};

// What became of one launch.
struct Outcome {
  attach::Spooled of;
  record::Kernel row;
  bool failed = false, from_cache = false;
  std::string reason;  // of a failure
  double wall_s = 0, cpu_s = 0;
};

void write_outcome(attach::SpoolReader const&, Outcome const&);
// Throws Error where the file is not what write_outcome() wrote.
Outcome read_outcome(attach::SpoolReader const&, attach::Spooled const&);

// Launches that are there by now, to be counted or counted by the application; and those that have an outcome.
std::vector<attach::Spooled> launches(attach::SpoolReader const&);
std::vector<attach::Spooled> outcomes(attach::SpoolReader const&);

// Kernel and case of a launch that has not been counted.
Outcome undone(attach::SpoolReader const&, attach::Spooled const&, std::string reason);

// Tells workers that nothing more arrives.
void announce_end(attach::SpoolReader const&);

// Counts what arrives until all is counted after announce_end(). Launches that are in the cache go first. Never throws.
void work(attach::SpoolReader const&, WorkerOptions const&);

}  // namespace kernelcast::advise
