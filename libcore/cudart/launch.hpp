// Running a kernel of the application: checked as the runtime does, then all of its groups on the emulator.
#pragma once

#include "cudart/state.hpp"

namespace kernelcast::cudart {

struct LaunchRequest {
  Dim3 grid, block;
  void** arguments = nullptr;
  std::size_t shared_bytes = 0;
  Stream stream = nullptr;
  bool cooperative = false;
};

// A configuration that cannot be is refused; what goes wrong in the kernel shows in later calls (State::broken).
Code launch(State&, Kernel&, LaunchRequest const&);

}  // namespace kernelcast::cudart
