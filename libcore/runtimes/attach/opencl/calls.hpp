// The functions that the layer puts before the vendor's, by subject.
#pragma once

#include <CL/cl.h>
#include <CL/cl_icd.h>

namespace kernelcast::attach {

extern cl_icd_dispatch next;  // the loader's functions below this layer

void take_programs(cl_icd_dispatch& layer);
void take_memory(cl_icd_dispatch& layer);
void take_kernels(cl_icd_dispatch& layer);
void take_commands(cl_icd_dispatch& layer);  // after the others
void take_timeline(cl_icd_dispatch& layer);  // the outermost

// Nothing that goes wrong in the layer may reach the application.
template <class Action>
void quietly(Action action) noexcept {
  try {
    action();
  } catch (...) {  // out of memory: this launch is not described
  }
}

}  // namespace kernelcast::attach
