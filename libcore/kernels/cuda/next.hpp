// The functions of the application's own runtime, which comes after a library of ours: entry_points.def.
#pragma once

#include "kernels/cuda/abi.hpp"

namespace kernelcast::cudart {

// Null where the runtime has none of the name: find_next.cpp or find_given.cpp.
void* find(char const* name);

// Who calls a function, and cannot do without.
enum User : unsigned { optional = 0, counting = 1, counting_graphs = 2, observing = 4, collecting = 8 };

// Never the application's own calls, which preload.cpp sees.
struct Runtime {
#define KERNELCAST_CALLED(name, parameters, users) Code(*name) parameters = nullptr;
#include "kernels/cuda/entry_points.def"
  char const* missing(User) const;  // a function that this user needs and the runtime lacks; null: none
};
Runtime const& runtime();

// Whether it is 13 or later, whose calls for graphs have an argument more.
bool has_edges();
bool is_capturing(Stream);
int current_device();

// While it lives calls of this thread are not the application's own: a runtime may call itself by its public names.
inline thread_local unsigned inner_calls = 0;
struct InnerCalls {
  InnerCalls() { ++inner_calls; }
  ~InnerCalls() { --inner_calls; }
  InnerCalls(InnerCalls const&) = delete;
};

}  // namespace kernelcast::cudart
