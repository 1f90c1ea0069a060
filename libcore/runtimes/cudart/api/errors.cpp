// Errors.
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/devices.hpp"

using namespace kernelcast::cudart;

KERNELCAST_CUDA_EXPORT char const* cudaGetErrorName(Code code) {
  return official_name(code);
}

KERNELCAST_CUDA_EXPORT char const* cudaGetErrorString(Code code) {
  return description(code);
}

// What a kernel leaves behind shows with the next call that would wait for it, not with these two.
KERNELCAST_CUDA_EXPORT Code cudaGetLastError() {
  return locked([](Devices const& devices, StickyError const& error) {
    if (devices.count() == 0) return Code::no_device;
    return error.code != Code::success && last_error() == error.code ? error.code : take_last_error();
  });
}

KERNELCAST_CUDA_EXPORT Code cudaPeekAtLastError() {
  return last_error();
}
