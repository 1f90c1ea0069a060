#include "runtimes/attach/opencl/builds.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtimes/attach/opencl/calls.hpp"
#include "runtimes/attach/opencl/queues.hpp"

namespace kernelcast::attach {
namespace {

using Notify = void(CL_CALLBACK*)(cl_program, void*);
using Devices = std::vector<cl_device_id>;

cl_icd_dispatch below;  // the layer's other functions

struct Builds {
  std::mutex mutex;
  std::unordered_map<cl_program, Devices> by_program;
};

Builds& builds() {
  static auto* const known = new Builds;
  return *known;
}

void remember(cl_program program, Devices devices) {
  std::lock_guard const lock(builds().mutex);
  builds().by_program[program] = std::move(devices);
}

Devices recall(cl_program program) {
  std::lock_guard const lock(builds().mutex);
  auto const known = builds().by_program.find(program);
  return known == builds().by_program.end() ? Devices{} : known->second;
}

// Those of the list, else all of the program's context: programs of another kind are not described, and not steered.
Devices named(cl_program program, cl_uint count, cl_device_id const* devices) {
  if (devices) return {devices, devices + count};
  cl_context context = nullptr;
  next.clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof context, &context, nullptr);
  return devices_of(context);
}

// Remembered before the call: another thread may be told of its end before this one is.
cl_int CL_API_CALL build(cl_program program, cl_uint count, cl_device_id const* devices, char const* options,
                         Notify notify, void* user) {
  quietly([&] { remember(program, named(program, count, devices)); });
  return below.clBuildProgram(program, count, devices, options, notify, user);
}

cl_int CL_API_CALL compile(cl_program program, cl_uint count, cl_device_id const* devices, char const* options,
                           cl_uint headers, cl_program const* texts, char const** names, Notify notify, void* user) {
  quietly([&] { remember(program, named(program, count, devices)); });
  return below.clCompileProgram(program, count, devices, options, headers, texts, names, notify, user);
}

// Without a list: for the devices that all parts were compiled for.
Devices common(cl_uint count, cl_program const* parts) {
  Devices out;
  for (cl_uint i = 0; i < count; ++i) {
    auto const of_part = recall(parts[i]);
    if (i == 0) out = of_part;
    std::erase_if(out, [&](cl_device_id d) { return std::find(of_part.begin(), of_part.end(), d) == of_part.end(); });
  }
  return out;
}

cl_program CL_API_CALL link(cl_context context, cl_uint count, cl_device_id const* devices, char const* options,
                            cl_uint parts, cl_program const* programs, Notify notify, void* user, cl_int* status) {
  auto const program = below.clLinkProgram(context, count, devices, options, parts, programs, notify, user, status);
  quietly([&] {
    if (program) remember(program, devices ? Devices(devices, devices + count) : common(parts, programs));
  });
  return program;
}

cl_int CL_API_CALL release(cl_program program) {
  cl_uint references = 0;
  next.clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof references, &references, nullptr);
  if (references == 1)
    quietly([&] {
      std::lock_guard const lock(builds().mutex);
      builds().by_program.erase(program);
    });
  return below.clReleaseProgram(program);
}

}  // namespace

void take_builds(cl_icd_dispatch& layer) {
  below = layer;
  layer.clBuildProgram = build;
  if (layer.clCompileProgram) layer.clCompileProgram = compile;
  if (layer.clLinkProgram) layer.clLinkProgram = link;
  layer.clReleaseProgram = release;
}

bool built_for_both(cl_program program, cl_device_id one, cl_device_id other) {
  auto const devices = recall(program);
  auto const holds = [&](cl_device_id device) {
    return std::find(devices.begin(), devices.end(), device) != devices.end();
  };
  return holds(one) && holds(other);
}

}  // namespace kernelcast::attach
