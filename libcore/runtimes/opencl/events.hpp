// Commands on their way: what they wait for, when they run, and their events.
#pragma once

#include <functional>

#include "runtimes/opencl/objects.hpp"

namespace kernelcast::opencl {

// What an enqueuing call gives besides its work.
struct Enqueued {
  cl_command_queue queue;
  cl_command_type type;
  cl_uint waits;
  cl_event const* wait_list;
  cl_event* event;  // may be null
  bool blocking = false;
  enum class Order : std::uint8_t { plain, marker, barrier } order = Order::plain;
};

// Appends the command and runs all that is ready. `work` runs under the lock, once what it waits for has ended well,
// and keeps what it works on. A blocking call returns when it has run; its status is that of the command.
cl_int enqueue(Lock&, Enqueued const&, std::function<cl_int()> work);

// Runs what is ready, in all queues.
void run_ready();
// Waits until that holds. Callbacks are called meanwhile.
void wait_until(Lock&, std::function<bool()> const& holds);

}  // namespace kernelcast::opencl
