// A launch, described as a launch file in the spool.
#pragma once

#include <CL/cl.h>

#include "runtimes/attach/opencl/objects.hpp"
#include "runtimes/attach/spool.hpp"

namespace kernelcast::attach {

struct Launch {
  cl_command_queue queue;
  cl_kernel handle;
  Kernel const& kernel;
  Configuration configuration;
  std::array<std::size_t, 3> offset;  // of the global ids
  cl_uint waits;                      // the launch's own wait list: what its buffers depend on
  cl_event const* wait_list;
  std::size_t read_back_bytes;  // of all its buffers together, about; images are read whole

  bool has_offset() const { return offset != std::array<std::size_t, 3>{}; }
};

// A description under way.
struct Pending;
struct Captured {
  Pending* pending = nullptr;
  // The launch must wait for these, besides its own, so that it does not overwrite what is being read; the caller
  // releases them.
  std::vector<cl_event> reads;
};

// Enqueues commands that read back what the arguments hold. Never waits: the launch may depend on something that the
// calling thread has yet to do.
Captured capture(Spool const&, std::uint64_t number, Launch const&);

// After the launch: the launch file, or the reason why there is none, is published when the reads are done; nothing
// where the launch was refused.
void conclude(Pending*, bool launched);

// Waits until all that was captured is published, at most so long.
void wait_for_captures(double max_s);

// Those of the process that this one was forked from will never end here.
void forget_captures();

}  // namespace kernelcast::attach
