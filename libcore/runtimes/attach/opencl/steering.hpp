// Launches that go to another device than the application chose, because they are projected to be faster there.
//
// Problem: an application with several devices in a context says where each kernel runs; another of them may be the
// better one for it (kernelcast-advise --steer).
// Method: another process decides (decisions.hpp); until then, and whenever the other device cannot take the launch,
// it goes where the application put it. A launch that is sent elsewhere waits, on a queue of ours, for a marker in the
// application's queue; a second marker, which waits for it, takes its place in the application's queue. The
// application gets the event of the kernel itself; a query of that event's queue returns the application's queue.
// Limits: devices of the same context, and programs that one call built for both. Not sent: kernels whose program has
// variables of its own in global memory, of which each device has one; launches with shared virtual memory that the
// other device lacks. The cost of moving buffers is left to the projection. Times of events are those of the
// device that ran the kernel.
#pragma once

#include <CL/cl.h>

#include <cstdint>
#include <optional>
#include <string>

#include "runtimes/attach/opencl/decisions.hpp"

namespace kernelcast::attach {

bool steering();  // whether this process is

// A launch as the application requested it.
struct Command {
  cl_command_queue queue;
  cl_kernel kernel;
  cl_uint dimensions;
  std::size_t const *offset, *global, *local;
  cl_uint waits;
  cl_event const* wait_list;
  cl_event* event;
};

// The application launches this configuration on that queue.
void note(cl_command_queue, std::uint64_t number);

// Launches it on another device, and returns that call's status; empty where it is to go where the application said.
// `number` is the configuration's. With the queue's lock held.
std::optional<cl_int> steer(Command const&, std::uint64_t number);

// The decisions of this process, by configuration; null where there are none. Made by the first call.
Decision* decisions();
// A file of this process in the spool.
void publish_for_steering(char const* kind, std::uint64_t number, std::string const& text);
// A child of fork() is not steered.
void forget_steering();

}  // namespace kernelcast::attach
