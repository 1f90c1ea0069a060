// The functions of the application's own runtime, which comes after us.
#pragma once

#include "intercept/cuda/abi.hpp"

namespace kernelcast::cudart::forward {

void* find(char const* name);  // null where the runtime has none of the name

// The function that has the name and type of `like`.
template <class Function>
Function* next(Function*, char const* name) {
  return reinterpret_cast<Function*>(find(name));
}

// While it lives calls of this thread are not the application's own: a runtime may call itself by its public names.
inline thread_local unsigned inner_calls = 0;
struct InnerCalls {
  InnerCalls() { ++inner_calls; }
  ~InnerCalls() { --inner_calls; }
  InnerCalls(InnerCalls const&) = delete;
};

// What we call ourselves; never while the stream captures.
struct Runtime {
  Code (*synchronize)() = nullptr;
  Code (*copy)(void*, void const*, std::size_t, CopyKind) = nullptr;
  Code (*copy_from_symbol)(void*, void const*, std::size_t, std::size_t, CopyKind) = nullptr;
  Code (*peek_error)() = nullptr;
  Code (*take_error)() = nullptr;
  Code (*is_capturing)(Stream, int*) = nullptr;
  Code (*attribute)(int*, int, int) = nullptr;
  Code (*device)(int*) = nullptr;
  bool complete() const {
    return synchronize && copy && copy_from_symbol && peek_error && take_error && is_capturing && attribute && device;
  }
};
Runtime const& runtime();

}  // namespace kernelcast::cudart::forward
