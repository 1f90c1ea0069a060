// The OpenCL platform on the emulator: an installable client driver for the loader, with the devices of Settings.
//
// Limits: events' profile is the emulator's own time on this host. No pipes, no device partition, no queues on the
// device: each is refused by its name, and no device claims it. Sub-groups have 32 work-items.
#include <pthread.h>

#include <cstdio>
#include <set>

#include "runtimes/attach/settings.hpp"
#include "runtimes/opencl/objects.hpp"

namespace kernelcast::opencl {

cl_icd_dispatch const dispatch = [] {
  cl_icd_dispatch table{};
#define X(name) table.name = api::name;
#include "runtimes/attach/opencl/calls.def"
#undef X
  return table;
}();

namespace {

std::uint64_t memory_range_bytes() {
  std::uint64_t sum = 0;
  for (auto const& platform : platforms())
    for (auto const& device : platform->devices) sum += device->memory_bytes();
  return std::max<std::uint64_t>(sum, std::uint64_t{1} << 30);
}

struct Named {
  char const* name;
  void* function;
};

}  // namespace

Shared::Shared() : memory(memory_range_bytes(), emu::Memory::Addresses::of_host) {
  memory.limit_heap(attach::settings().heap_bytes);
}

// Never destroyed: applications call OpenCL until the very end. A child of fork() finds the lock free.
Shared& shared() {
  static auto* const made = [] {
    platforms();
    static auto* known = new Shared;
    pthread_atfork([] { known->mutex.lock(); }, [] { known->mutex.unlock(); }, [] { new (&known->mutex) std::mutex; });
    return known;
  }();
  return *made;
}

bool run_callbacks(Lock& lock) {
  auto const due = std::exchange(shared().due, {});
  if (due.empty()) return false;
  lock.unlock();
  for (auto const& one : due) one();
  lock.lock();
  return true;
}

void report(std::string const& text) {
  static std::mutex mutex;
  static auto* const told = new std::set<std::string>;
  std::lock_guard const lock(mutex);
  if (told->insert(text).second) std::fprintf(stderr, "kernelcast: %s\n", text.c_str());
}

namespace api {

void* CL_API_CALL clGetExtensionFunctionAddress(char const* name) {
  if (!name) return nullptr;
  std::string_view const wanted = name;
  if (wanted == "clCreateProgramWithILKHR") return reinterpret_cast<void*>(&api::clCreateProgramWithIL);
  if (wanted == "clIcdGetPlatformIDsKHR") return reinterpret_cast<void*>(&api::clGetPlatformIDs);
#define X(function) \
  if (wanted == #function) return reinterpret_cast<void*>(&api::function);
#include "runtimes/attach/opencl/calls.def"
#undef X
  return nullptr;
}

void* CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id, char const* name) {
  return clGetExtensionFunctionAddress(name);
}

}  // namespace api
}  // namespace kernelcast::opencl

// What the loader looks for.
#define KERNELCAST_EXPORT extern "C" __attribute__((visibility("default")))

KERNELCAST_EXPORT cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint capacity, cl_platform_id* out, cl_uint* count) {
  return kernelcast::opencl::api::clGetPlatformIDs(capacity, out, count);
}
KERNELCAST_EXPORT cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info what,
                                                       std::size_t capacity, void* value, std::size_t* bytes) {
  return kernelcast::opencl::api::clGetPlatformInfo(platform, what, capacity, value, bytes);
}
KERNELCAST_EXPORT void* CL_API_CALL clGetExtensionFunctionAddress(char const* name) {
  return kernelcast::opencl::api::clGetExtensionFunctionAddress(name);
}
