// The OpenCL layer: sees every kernel launch of an application and describes the ones that are new.
//
// Problem: users have applications, not launch files. [panwar] catches launches transparently, in an OpenCL layer.
// Method: the ICD loader (ocl-icd 2.3, OPENCL_LAYERS) puts this library's functions before the vendor's. Sources,
// build options and arguments are remembered as they pass; the first launch of a kernel with new sizes is written to
// the spool as a launch file (spool.hpp), of which miniemu emulates what it likes, in its own process. Later launches
// cost a look-up and a count.
// Limits: programs from source only; see capture.cpp for what else has no launch file. The application's calls return
// what they would without the layer, whatever fails in here.
#include <CL/cl_layer.h>
#include <pthread.h>

#include <algorithm>
#include <cstring>

#include "runtimes/attach/opencl/builds.hpp"
#include "runtimes/attach/opencl/calls.hpp"
#include "runtimes/attach/opencl/capture.hpp"
#include "runtimes/attach/opencl/objects.hpp"
#include "runtimes/attach/opencl/queues.hpp"
#include "runtimes/attach/opencl/steering.hpp"

namespace kernelcast::attach {

cl_icd_dispatch next;

Objects& objects() {
  static auto* const known = new Objects;  // never destroyed: applications call OpenCL until the very end
  return *known;
}

namespace {

cl_icd_dispatch layer;  // ours, and the others' as they are

constexpr double longest_wait_at_exit_s = 5;

struct AtExit {
  ~AtExit() { wait_for_captures(longest_wait_at_exit_s); }
} at_exit;

// A child of fork() finds the lock free, and waits for nothing that only its parent can end.
struct AtFork {
  AtFork() {
    pthread_atfork([] { objects().mutex.lock(); }, [] { objects().mutex.unlock(); },
                   [] {
                     objects().mutex.unlock();
                     forget_captures();
                     forget_steering();
                   });
  }
} at_fork;

}  // namespace
}  // namespace kernelcast::attach

#define KERNELCAST_EXPORT extern "C" __attribute__((visibility("default")))

KERNELCAST_EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, std::size_t capacity, void* value,
                                                    std::size_t* bytes) {
  cl_layer_api_version const version = CL_LAYER_API_VERSION_100;
  char const name[] = "kernelcast";
  void const* const answer = what == CL_LAYER_API_VERSION ? static_cast<void const*>(&version) : name;
  std::size_t const size = what == CL_LAYER_API_VERSION ? sizeof version : sizeof name;
  if (what != CL_LAYER_API_VERSION && what != CL_LAYER_NAME) return CL_INVALID_VALUE;
  if (value && capacity < size) return CL_INVALID_VALUE;
  if (value) std::memcpy(value, answer, size);
  if (bytes) *bytes = size;
  return CL_SUCCESS;
}

KERNELCAST_EXPORT cl_int CL_API_CALL clInitLayer(cl_uint entries, cl_icd_dispatch const* target, cl_uint* count,
                                                 cl_icd_dispatch const** ours) {
  using namespace kernelcast::attach;
  if (!target || !count || !ours) return CL_INVALID_VALUE;
  // A loader that is older knows fewer functions; the rest stay null and are not called.
  std::size_t const known = std::min<std::size_t>(entries, sizeof(cl_icd_dispatch) / sizeof(void*));
  std::memcpy(&next, target, known * sizeof(void*));
  layer = next;
  take_programs(layer);
  take_memory(layer);
  take_kernels(layer);
  take_commands(layer);
  if (steering()) {
    take_builds(layer);
    take_queues(layer);
  }
  take_timeline(layer);
  *count = static_cast<cl_uint>(known);
  *ours = &layer;
  return CL_SUCCESS;
}
