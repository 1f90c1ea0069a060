// Calls of the application, each on the parts of the runtime that it names.
//
// Problem: run an unmodified application of the CUDA runtime where there is no GPU, and count what its kernels do.
// Method: this library takes the place of libcudart.so. Every call is done when it returns: kernels run on the emulator
// in the calling thread, all groups, with the memory that the application's other calls see. Device addresses are host
// addresses. The parts own their state; runtime.cpp makes them, and one lock guards them all.
// Limits: a kernel that waits for something that the host does later never ends. What cannot be done is named once and
// returns cudaErrorNotSupported. After a fork the child has a copy of its own, as of everything.
#pragma once

#include <mutex>
#include <new>
#include <type_traits>

#include "base/diag/diag.hpp"
#include "kernels/cuda/abi.hpp"
#include "runtimes/cudart/errors.hpp"

namespace kernelcast::emu {
class Memory;
}

namespace kernelcast::cudart {

// Type and name.
// clang-format off
#define KERNELCAST_PARTS(X)                                                  \
  X(Allocations, allocations) X(Arrays, arrays) X(Commands, commands)        \
  X(Copies, copies) X(Deferred, deferred) X(DeviceLimits, limits)            \
  X(Devices, devices)                                                        \
  X(Graphs, graphs) X(Launcher, launcher) X(Registry, registry)              \
  X(Streams, streams) X(Textures, textures) X(Timeline, timeline)
// clang-format on

#define KERNELCAST_PART(Type, name) class Type;
KERNELCAST_PARTS(KERNELCAST_PART)
#undef KERNELCAST_PART

// A kernel has failed: every call returns this until the device is reset.
struct StickyError {
  Code code = Code::success;
};

template <class Part>
Part& part();
#define KERNELCAST_PART(Type, name) \
  template <>                       \
  Type& part();
KERNELCAST_PARTS(KERNELCAST_PART)
KERNELCAST_PART(emu::Memory, memory)
KERNELCAST_PART(StickyError, error)
#undef KERNELCAST_PART

std::recursive_mutex& call_mutex();

namespace calls {

template <class Result, class Body, class... Parts>
Result on_parts(Body const& body, Result (Body::*)(Parts...) const) {
  return body(part<std::remove_cvref_t<Parts>>()...);
}

// A call lasts: between them the time is the host's own.
class Lasting {
 public:
  Lasting();
  ~Lasting();
  Lasting(Lasting const&) = delete;
};

Code refusal();  // there is no device, or a kernel has failed

}  // namespace calls

// `body` takes parts by reference.
template <class Body>
auto locked(Body const& body) {
  std::lock_guard const lock(call_mutex());
  calls::Lasting const lasting;
  return calls::on_parts(body, &Body::operator());
}

// The same with the errors that stay and those that it makes.
template <class Body>
Code call(Body const& body) {
  std::lock_guard const lock(call_mutex());
  calls::Lasting const lasting;
  if (auto const code = calls::refusal(); code != Code::success) return remembered(code);
  try {
    return remembered(calls::on_parts(body, &Body::operator()));
  } catch (Error const& error) {
    report(error.text("CUDA"));
    return remembered(error.status() == Status::limit ? Code::memory_allocation : Code::invalid_value);
  } catch (std::bad_alloc const&) {
    return remembered(Code::memory_allocation);
  }
}

}  // namespace kernelcast::cudart
