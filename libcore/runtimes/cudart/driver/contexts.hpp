// Contexts: which one a thread is in, and with it which device. All the memory of a process is one, whatever the
// context.
#pragma once

#include "kernels/cuda/driver.hpp"

namespace kernelcast::driver {

struct ContextObject {
  Device device = 0;
  bool is_primary = false;
  unsigned flags = 0;
  unsigned long long id = 0;
  unsigned retained = 0;  // of a primary one: how often; 0 where it is inactive
};

// This thread's; null where it has none. A thread that has called the runtime is in the primary one of its device.
Context current_context();
bool known(Context);
Code primary_context_of(Device, Context&);
// What a call returns that needs one where there is none.
Code no_context();

// What the runtime inside an application has left with a context is given back to it: the context ends.
void clear_storage(Context);

}  // namespace kernelcast::driver
