// The runtime of this process: everything that calls of the application work on, behind one lock.
//
// Problem: run an unmodified application of the CUDA runtime where there is no GPU, and count what its kernels do.
// Method: this library takes the place of libcudart.so. Every call is done when it returns: kernels run on the emulator
// in the calling thread, all groups, with the memory that the application's other calls see. Device addresses are host
// addresses.
// Limits: a kernel that waits for something that the host does later never ends. What cannot be done is named once and
// returns cudaErrorNotSupported. After a fork the child has a copy of its own, as of everything.
#pragma once

#include <map>
#include <mutex>
#include <new>

#include "attach/settings.hpp"
#include "cudart/allocations.hpp"
#include "cudart/arrays.hpp"
#include "cudart/commands.hpp"
#include "cudart/devices.hpp"
#include "cudart/errors.hpp"
#include "cudart/graphs.hpp"
#include "cudart/registry.hpp"
#include "cudart/rows.hpp"
#include "cudart/streams.hpp"
#include "cudart/textures.hpp"
#include "diag/diag.hpp"

namespace kernelcast::cudart {

class State {
 public:
  static State& get();

  std::recursive_mutex mutex;
  attach::Settings const& settings;
  Devices const devices;
  emu::Memory memory;
  launch::TouchHistory touched;
  Allocations allocations;
  Registry registry;
  Streams streams;
  Graphs graphs;
  Arrays arrays;
  Textures textures;
  Rows rows;
  Commands commands;
  Code broken = Code::success;  // a kernel has failed: every call returns this until the device is reset
  unsigned flags = 0;           // cudaSetDeviceFlags
  std::uint64_t stack_bytes, heap_bytes;
  std::map<Limit, std::size_t> limits{// others than these two; CUDA's defaults
                                      {Limit::sync_depth, 2},
                                      {Limit::pending_launches, 2048},
                                      {Limit::l2_granularity, 64},
                                      {Limit::l2_bytes, 0}};
  std::uint64_t grid_workspace = 0;  // an address, once there was a cooperative launch

  device::Device const& device() const;  // this thread's
  std::uint64_t device_memory_bytes() const;
  Code load(Program& program) { return registry.load(program, capability(device()), memory); }
  Code prepare(Kernel& kernel) { return registry.prepare(kernel, capability(device()), memory); }
  void reset();  // variables of programs keep their values

 private:
  State();
};

int& current_device();  // of this thread

// A call of the application: serialised, with the errors that stay and those that it makes.
template <class Body>
Code call(Body body) {
  State& state = State::get();
  std::lock_guard const lock(state.mutex);
  if (state.devices.count() == 0) return remembered(Code::no_device);
  if (state.broken != Code::success) return remembered(state.broken);
  try {
    return remembered(body(state));
  } catch (Error const& error) {
    report(error.text("CUDA"));
    return remembered(error.status() == Status::limit ? Code::memory_allocation : Code::invalid_value);
  } catch (std::bad_alloc const&) {
    return remembered(Code::memory_allocation);
  }
}

}  // namespace kernelcast::cudart
