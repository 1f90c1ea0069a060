// Errors.
#include "cudart/state.hpp"

using namespace kernelcast::cudart;

KERNELCAST_CUDA_EXPORT char const* cudaGetErrorName(Code code) {
  return official_name(code);
}

KERNELCAST_CUDA_EXPORT char const* cudaGetErrorString(Code code) {
  return description(code);
}

// What a kernel leaves behind shows with the next call that would wait for it, not with these two.
KERNELCAST_CUDA_EXPORT Code cudaGetLastError() {
  auto& state = State::get();
  std::lock_guard const lock(state.mutex);
  if (state.devices.count() == 0) return Code::no_device;
  return state.broken != Code::success && last_error() == state.broken ? state.broken : take_last_error();
}

KERNELCAST_CUDA_EXPORT Code cudaPeekAtLastError() {
  return last_error();
}
