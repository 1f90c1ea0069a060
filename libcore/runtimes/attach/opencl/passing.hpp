// One launch on its way through the layer: counted, and captured where it is new: ../settings.def.
#pragma once

#include <CL/cl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtimes/attach/opencl/capture.hpp"
#include "runtimes/attach/opencl/objects.hpp"

namespace kernelcast::attach {

// The number of a launch of these sizes in this process's part of the spool; empty where it has none.
std::optional<std::uint64_t> number_of(cl_kernel handle, cl_uint dimensions, std::size_t const* global,
                                       std::size_t const* local);

// Null where nothing is captured.
Spool const* chosen_spool();

// The application has made a buffer: what it holds may have to be read back.
void expect(std::size_t bytes);

class Passing {
 public:
  Passing(cl_kernel handle, cl_uint dimensions, std::size_t const* global, std::size_t const* local);

  bool is_new() const { return kernel_ != nullptr; }
  // By which the spool knows the configuration; empty where it does not.
  std::optional<std::uint64_t> number() const;
  void describe(cl_command_queue queue, cl_kernel handle, std::size_t const* offset, cl_uint waits,
                cl_event const* wait_list);
  // What the launch must wait for besides its own.
  std::vector<cl_event> const& reads() const { return captured_.reads; }
  // After the call. A launch that was refused was none.
  void conclude(bool launched);

 private:
  void count(Kernel const& kernel);

  Configuration configuration_;
  LaunchPolicy::Counted counted_;
  std::shared_ptr<Kernel> kernel_;  // a copy, where it is to be described
  Captured captured_;
};

}  // namespace kernelcast::attach
