// What memory objects of all kinds share.
#pragma once

#include <string>

#include "runtimes/opencl/objects.hpp"

namespace kernelcast::opencl {

inline constexpr cl_mem_flags of_device = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
inline constexpr cl_mem_flags of_host = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS;
inline constexpr cl_mem_flags of_place = CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR;
inline bool more_than_one(cl_mem_flags flags, cl_mem_flags of) {
  auto const set = flags & of;
  return (set & (set - 1)) != 0;
}
// As they are kept: what is not said of kernels is read and write.
inline cl_mem_flags completed(cl_mem_flags flags) {
  return (flags & of_device) != 0 ? flags : flags | CL_MEM_READ_WRITE;
}

// "buffer 3": messages name memory by it.
std::string next_name(char const* kind);
// These throw Refusal.
void check_flags(cl_mem_flags, void const* host);
void check_size(_cl_context const&, std::size_t bytes);
// Memory of its own, or the application's where that is asked for.
void place(_cl_mem&, std::string name, std::size_t bytes, void* host);

}  // namespace kernelcast::opencl
