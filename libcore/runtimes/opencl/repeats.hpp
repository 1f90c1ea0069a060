// Launches that would write the same once more, which do not run: --execute needed, as cudart/deferred.hpp has it for
// CUDA's, but none waits.
//
// Problem: benchmarks launch a kernel again and again to have its time.
// Method: the content of each memory object has a number, a new one whenever something writes to it. The kernel's PTX
// says through which of its arguments it reads and writes (ptx::touched_pointers). A launch with what was launched
// before, on contents of the same numbers, leaves the numbers that it left then; where these are there already, it does
// not run, and the clock of events goes on by what the launch took when it ran.
// Limits: never left out is a launch that may touch anything, such as one with images, printf or shared virtual memory,
// or that touches memory which the host can write without a call: mapped, or given with CL_MEM_USE_HOST_PTR.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runtimes/opencl/objects.hpp"

namespace kernelcast::opencl {

// Its content, or that of a part of it, is another. Those of all, where what a command has written is not known.
void changed(_cl_mem& memory);
void changed_all();
bool may_change_all(cl_command_type type);  // whose work says nothing of what it has changed

std::chrono::nanoseconds left_out();  // the time of launches that did not run, in all

// What a launch touches, as it finds it.
class Touched {
 public:
  Touched(PreparedLaunch&, bool wanted);
  bool leave_out() const;  // true where the launch leaves what is there
  void ran(bool whole, std::chrono::nanoseconds took);

 private:
  struct Use {
    _cl_mem* memory;
    bool read = false, written = false;
  };
  std::string key() const;

  bool known_ = false;  // what it touches
  std::vector<Use> uses_;
  std::string launch_;
};

}  // namespace kernelcast::opencl
