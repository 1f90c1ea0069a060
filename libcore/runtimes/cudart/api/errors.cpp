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

// The log of errors is empty: what there is to say is said on standard error.
KERNELCAST_CUDA_EXPORT Code cudaLogsRegisterCallback(void const* callback, void*, void** handle) {
  static char registered;
  if (!callback) return Code::invalid_value;
  if (handle) *handle = &registered;
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaLogsUnregisterCallback(void* handle) {
  return handle ? Code::success : Code::invalid_value;
}
