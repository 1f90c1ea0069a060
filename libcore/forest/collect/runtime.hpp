// What the collecting library uses of the CUDA runtime that is loaded after it. Types are flux/attach/runtime.hpp's.
#pragma once

#include <cstddef>

#include "flux/attach/runtime.hpp"

namespace kernelcast::forest::collect {

using flux::runtime::Dim3;
using Code = flux::runtime::Error;  // cudaError_t; 0 is success
using flux::runtime::Event;
using flux::runtime::Kernel;
using flux::runtime::LaunchConfig;
using flux::runtime::Stream;

constexpr int to_device = 1, to_host = 2, by_address = 4;  // cudaMemcpyKind

// Member, symbol, arguments.
#define KERNELCAST_COLLECT_FUNCTIONS(X)                                                              \
  X(get_device, "cudaGetDevice", (int*))                                                             \
  X(pci_address, "cudaDeviceGetPCIBusId", (char*, int, int))                                         \
  X(synchronize, "cudaDeviceSynchronize", ())                                                        \
  X(is_capturing, "cudaStreamIsCapturing", (Stream, int*))                                           \
  X(copy, "cudaMemcpy", (void*, void const*, std::size_t, int))                                      \
  X(copy_from_symbol, "cudaMemcpyFromSymbol", (void*, void const*, std::size_t, std::size_t, int))   \
  X(copy_to_symbol, "cudaMemcpyToSymbol", (void const*, void const*, std::size_t, std::size_t, int)) \
  X(event_create, "cudaEventCreate", (Event*))                                                       \
  X(event_destroy, "cudaEventDestroy", (Event))                                                      \
  X(event_record, "cudaEventRecord", (Event, Stream))                                                \
  X(event_synchronize, "cudaEventSynchronize", (Event))                                              \
  X(elapsed_ms, "cudaEventElapsedTime", (float*, Event, Event))

constexpr std::size_t properties_bytes = 4096;  // more than any cudaDeviceProp, which begins with the device's name

struct Runtime {
#define KERNELCAST_DECLARE(member, symbol, arguments) Code(*member) arguments = nullptr;
  KERNELCAST_COLLECT_FUNCTIONS(KERNELCAST_DECLARE)
#undef KERNELCAST_DECLARE
  Code (*properties)(void*, int) = nullptr;  // cudaGetDeviceProperties; null where there is none
  char const* missing = nullptr;             // a function that the runtime lacks
};

inline Runtime const& runtime() {
  static Runtime const functions = [] {
    Runtime out;
#define KERNELCAST_RESOLVE(member, symbol, arguments)                               \
  out.member = reinterpret_cast<decltype(out.member)>(flux::runtime::find(symbol)); \
  if (!out.member) out.missing = symbol;
    KERNELCAST_COLLECT_FUNCTIONS(KERNELCAST_RESOLVE)
#undef KERNELCAST_RESOLVE
    for (char const* name : {"cudaGetDeviceProperties", "cudaGetDeviceProperties_v2"})
      if (!out.properties) out.properties = reinterpret_cast<decltype(out.properties)>(flux::runtime::find(name));
    return out;
  }();
  return functions;
}

}  // namespace kernelcast::forest::collect
