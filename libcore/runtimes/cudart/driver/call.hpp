// Calls of the driver on the emulator. Each is made of what the runtime's calls are made of (../call.hpp), or of these
// themselves: its handles are the runtime's, a pointer of the device is a void* in another dress, and most of its error
// codes have the same numbers.
#pragma once

#include "kernels/cuda/driver.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/driver/contexts.hpp"
#include "runtimes/cudart/errors.hpp"

namespace kernelcast::driver {

// What the driver returns where the runtime returns this.
Code of_runtime(Code);

// A call of the runtime, without a trace in the error that it remembers.
template <class Body>
Code of_runtime_call(Body const& body) {
  cudart::LastErrorKept const kept;
  return of_runtime(body());
}

// `body` takes parts by reference.
template <class Body>
Code call(Body const& body) {
  return of_runtime_call([&] { return cudart::call(body); });
}

// The same, refused where this thread has no context.
template <class Body>
Code call_in_context(Body const& body) {
  return current_context() ? call(body) : no_context();
}

// A call of the runtime on the emulator, by its name: a variable of that name. Not by the linker, which would take the
// function of another runtime that the application has loaded before.
void* find_of_runtime(char const* name);
#define KERNELCAST_OF_RUNTIME(name, ...) \
  auto* const name = reinterpret_cast<Code (*)(__VA_ARGS__)>(kernelcast::driver::find_of_runtime(#name))

inline void* pointer_of(Pointer address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace kernelcast::driver
