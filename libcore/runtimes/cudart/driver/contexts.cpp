// Devices and contexts.
#include "runtimes/cudart/driver/contexts.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>

#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/attributes.hpp"
#include "runtimes/cudart/devices.hpp"
#include "runtimes/cudart/driver/call.hpp"

namespace kernelcast::driver {

namespace {

std::atomic<bool> initialized = false;

struct Contexts {
  std::map<Device, std::unique_ptr<ContextObject>> primary;
  std::map<Context, std::unique_ptr<ContextObject>> made;
  unsigned long long next_id = 1;
};
// Guarded by the runtime's lock. Never destroyed: the application may call at the very end.
Contexts& contexts() {
  static auto* const all = new Contexts;
  return *all;
}

Context primary_of(Device device) {
  auto& place = contexts().primary[device];
  if (!place) place = std::make_unique<ContextObject>(ContextObject{device, true, 0, contexts().next_id++, 0});
  return place.get();
}

// Of this thread. It has no destructor: the runtime inside an application calls when those of threads have run.
class Stack {
 public:
  Context top() const { return size_ ? entries_[size_ - 1] : nullptr; }
  bool empty() const { return size_ == 0; }
  bool push(Context context) {
    if (size_ == std::size(entries_)) return false;
    entries_[size_++] = context;
    enter_top();
    return true;
  }
  void pop() {
    if (size_) --size_;
    enter_top();
  }
  void erase(Context context) {
    size_ = static_cast<std::size_t>(std::remove(entries_, entries_ + size_, context) - entries_);
    enter_top();
  }

 private:
  void enter_top() const {
    if (top()) cudart::current_device() = top()->device;
  }

  Context entries_[256] = {};
  std::size_t size_ = 0;
};
thread_local constinit Stack stack;

// `body` gets a device that there is, whatever a kernel has done to it.
template <class Body>
Code of_device(Device device, Body const& body) {
  if (!initialized) return Code::initialization_error;
  return cudart::locked(
      [&](cudart::Devices const& devices) { return devices.known(device) ? body(devices) : Code::invalid_device; });
}

Code create(Context* out, unsigned flags, Device device) {
  return of_device(device, [&](cudart::Devices const&) {
    if (!out) return Code::invalid_value;
    auto made = std::make_unique<ContextObject>(ContextObject{device, false, flags, contexts().next_id++, 0});
    *out = made.get();
    contexts().made.emplace(*out, std::move(made));
    return stack.push(*out) ? Code::success : Code::memory_allocation;
  });
}

}  // namespace

Context current_context() {
  if (!stack.empty()) return stack.top();
  if (!cudart::runtime_called()) return nullptr;
  return cudart::locked([] { return primary_of(cudart::current_device()); });
}

Code primary_context_of(Device device, Context& out) {
  return of_device(device, [&](cudart::Devices const&) {
    out = primary_of(device);
    return Code::success;
  });
}

Code no_context() {
  return initialized ? Code::device_uninitialized : Code::initialization_error;
}

bool known(Context context) {
  auto const& all = contexts();
  if (all.made.contains(context)) return true;
  return std::any_of(all.primary.begin(), all.primary.end(), [&](auto const& p) { return p.second.get() == context; });
}

}  // namespace kernelcast::driver

using namespace kernelcast;
using namespace kernelcast::driver;

// ---------------------------------------------------------------- driver and devices

KERNELCAST_CUDA_EXPORT Code cuInit(unsigned flags) {
  if (flags != 0) return Code::invalid_value;
  return of_runtime_call([] {
    return cudart::locked([](cudart::Devices const& devices) {
      if (devices.count() == 0) return Code::no_device;
      initialized = true;
      return Code::success;
    });
  });
}
KERNELCAST_CUDA_EXPORT Code cuDriverGetVersion(int* out) {
  if (!out) return Code::invalid_value;
  *out = cudart::driver_version;
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cuGetErrorName(Code code, char const** name) {
  if (!name) return Code::invalid_value;
  *name = cudart::driver_name(code);
  return *name ? Code::success : Code::invalid_value;
}
KERNELCAST_CUDA_EXPORT Code cuGetErrorString(Code code, char const** text) {
  if (!text) return Code::invalid_value;
  *text = cudart::driver_name(code) ? cudart::description(code) : nullptr;
  return *text ? Code::success : Code::invalid_value;
}

KERNELCAST_CUDA_EXPORT Code cuDeviceGetCount(int* count) {
  if (!initialized) return Code::initialization_error;
  return call([&](cudart::Devices const& devices) {
    if (!count) return Code::invalid_value;
    *count = devices.count();
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuDeviceGet(Device* device, int ordinal) {
  return of_device(ordinal, [&](cudart::Devices const&) {
    if (!device) return Code::invalid_value;
    *device = ordinal;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuDeviceGetName(char* name, int length, Device device) {
  return of_device(device, [&](cudart::Devices const& devices) {
    if (!name || length <= 0) return Code::invalid_value;
    auto const text = devices[device].vendor + ' ' + devices[device].name;
    auto const size = std::min(text.size(), static_cast<std::size_t>(length) - 1);
    std::memcpy(name, text.data(), size);
    name[size] = '\0';
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuDeviceGetUuid(char* uuid, Device device) {
  return of_device(device, [&](cudart::Devices const& devices) {
    if (!uuid) return Code::invalid_value;
    cudart::write_uuid(devices[device], device, uuid);
    return Code::success;
  });
}
KERNELCAST_CUDA_ALIAS(cuDeviceGetUuid, cuDeviceGetUuid_v2)
KERNELCAST_CUDA_EXPORT Code cuDeviceTotalMem_v2(std::size_t* bytes, Device device) {
  return of_device(device, [&](cudart::Devices const& devices) {
    if (!bytes) return Code::invalid_value;
    *bytes = devices.memory_bytes(device);
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuDeviceGetAttribute(int* value, Attribute attribute, Device device) {
  return of_device(device, [&](cudart::Devices const& devices) {
    if (!value) return Code::invalid_value;
    auto const found = cudart::value_of(attribute, devices[device], device);
    if (!found) return Code::invalid_value;
    *value = *found;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuDeviceComputeCapability(int* major, int* minor, Device device) {
  auto const code = cuDeviceGetAttribute(major, Attribute::capability_major, device);
  return code == Code::success ? cuDeviceGetAttribute(minor, Attribute::capability_minor, device) : code;
}
KERNELCAST_CUDA_EXPORT Code cuDeviceGetLuid(char*, unsigned*, Device) {
  return Code::not_supported;  // as on every system but Windows
}
KERNELCAST_CUDA_EXPORT Code cuDeviceGetExecAffinitySupport(int* value, int, Device) {
  *value = 0;
  return Code::success;
}

// ---------------------------------------------------------------- primary contexts

KERNELCAST_CUDA_EXPORT Code cuDevicePrimaryCtxRetain(Context* context, Device device) {
  return of_device(device, [&](cudart::Devices const&) {
    if (!context) return Code::invalid_value;
    *context = primary_of(device);
    ++(*context)->retained;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuDevicePrimaryCtxRelease(Device device) {
  Context ended = nullptr;
  auto const code = of_device(device, [&](cudart::Devices const&) {
    auto* const context = primary_of(device);
    if (context->retained == 0) return Code::device_uninitialized;
    --context->retained;
    ended = context->retained == 0 ? context : nullptr;
    return Code::success;
  });
  if (ended) clear_storage(ended);
  return code;
}
KERNELCAST_CUDA_ALIAS(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2)
KERNELCAST_CUDA_EXPORT Code cuDevicePrimaryCtxSetFlags(Device device, unsigned flags) {
  return of_device(device, [&](cudart::Devices const&) {
    primary_of(device)->flags = flags;
    return Code::success;
  });
}
KERNELCAST_CUDA_ALIAS(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2)
KERNELCAST_CUDA_EXPORT Code cuDevicePrimaryCtxGetState(Device device, unsigned* flags, int* active) {
  return of_device(device, [&](cudart::Devices const&) {
    if (!flags || !active) return Code::invalid_value;
    *flags = primary_of(device)->flags;
    *active = primary_of(device)->retained > 0 || cudart::runtime_called();
    return Code::success;
  });
}
KERNELCAST_OF_RUNTIME(cudaDeviceReset);
KERNELCAST_CUDA_EXPORT Code cuDevicePrimaryCtxReset(Device device) {
  Context context = nullptr;
  if (auto const code = primary_context_of(device, context); code != Code::success) return code;
  clear_storage(context);
  return of_runtime_call(cudaDeviceReset);
}
KERNELCAST_CUDA_ALIAS(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2)

// ---------------------------------------------------------------- contexts

KERNELCAST_CUDA_EXPORT Code cuCtxCreate_v2(Context* context, unsigned flags, Device device) {
  return create(context, flags, device);
}
KERNELCAST_CUDA_ALIAS(cuCtxCreate_v2, cuCtxCreate)
KERNELCAST_CUDA_EXPORT Code cuCtxCreate_v3(Context* context, void*, int, unsigned flags, Device device) {
  return create(context, flags, device);
}
KERNELCAST_CUDA_EXPORT Code cuCtxCreate_v4(Context* context, void*, unsigned flags, Device device) {
  return create(context, flags, device);
}
KERNELCAST_CUDA_EXPORT Code cuCtxDestroy_v2(Context context) {
  return cudart::locked([&]() {
    if (contexts().made.erase(context) == 0) return known(context) ? Code::device_uninitialized : Code::invalid_value;
    stack.erase(context);
    return Code::success;
  });
}
KERNELCAST_CUDA_ALIAS(cuCtxDestroy_v2, cuCtxDetach)
KERNELCAST_CUDA_ALIAS(cuCtxDestroy_v2, cuCtxDestroy)
KERNELCAST_CUDA_EXPORT Code cuCtxAttach(Context* context, unsigned) {
  if (!context) return Code::invalid_value;
  *context = current_context();
  return *context ? Code::success : Code::device_uninitialized;
}
KERNELCAST_CUDA_EXPORT Code cuCtxPushCurrent_v2(Context context) {
  return cudart::locked([&]() {
    if (!known(context)) return Code::device_uninitialized;
    return stack.push(context) ? Code::success : Code::memory_allocation;
  });
}
KERNELCAST_CUDA_ALIAS(cuCtxPushCurrent_v2, cuCtxPushCurrent)
KERNELCAST_CUDA_EXPORT Code cuCtxPopCurrent_v2(Context* context) {
  if (stack.empty()) return Code::device_uninitialized;
  if (context) *context = stack.top();
  stack.pop();
  return Code::success;
}
KERNELCAST_CUDA_ALIAS(cuCtxPopCurrent_v2, cuCtxPopCurrent)
KERNELCAST_CUDA_EXPORT Code cuCtxSetCurrent(Context context) {
  return cudart::locked([&]() {
    if (context && !known(context)) return Code::device_uninitialized;
    stack.pop();
    if (context) stack.push(context);
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuCtxGetCurrent(Context* context) {
  if (!initialized) return Code::initialization_error;
  if (!context) return Code::invalid_value;
  *context = current_context();
  return Code::success;
}

namespace {
// `read` gets the context, or this thread's where it is null.
template <class Read>
Code of_context(Context context, Read const& read) {
  if (!context) context = current_context();
  return cudart::locked([&]() {
    if (!context || !known(context)) return Code::device_uninitialized;
    return read(*context) ? Code::success : Code::invalid_value;
  });
}
}  // namespace

KERNELCAST_CUDA_EXPORT Code cuCtxGetDevice_v2(Device* device, Context context) {
  return of_context(context, [&](ContextObject const& c) { return device && (*device = c.device, true); });
}
KERNELCAST_CUDA_EXPORT Code cuCtxGetDevice(Device* device) {
  return cuCtxGetDevice_v2(device, nullptr);
}
extern "C" Code cuCtxSynchronize();
KERNELCAST_CUDA_EXPORT Code cuCtxSynchronize_v2(Context) {
  return cuCtxSynchronize();
}
// A stream is in the thread's context where that is of its device, else in the device's primary one.
extern "C" Code cuStreamGetDevice(Stream, Device*);
KERNELCAST_CUDA_EXPORT Code cuStreamGetCtx(Stream stream, Context* context) {
  if (!context) return Code::invalid_value;
  Device device = 0;
  auto const code = cuStreamGetDevice(stream, &device);
  if (code != Code::success) return code;
  *context = current_context();
  if (!*context || (*context)->device != device) *context = cudart::locked([&] { return primary_of(device); });
  return Code::success;
}
KERNELCAST_CUDA_ALIAS(cuStreamGetCtx, cuStreamGetCtx_ptsz)
// [cuda] CUdevResource: the multiprocessors, in groups of as many as run together.
struct DevResource {
  int type;
  unsigned char padding[92];
  unsigned multiprocessors, least, together, flags;
};
KERNELCAST_CUDA_EXPORT Code cuDeviceGetDevResource(Device device, DevResource* out, int type) {
  constexpr int multiprocessors = 1;
  return call([&](cudart::Devices const& devices) {
    if (!devices.known(device)) return Code::invalid_device;
    if (!out) return Code::invalid_value;
    if (type != multiprocessors) return cudart::unsupported("a resource that is not multiprocessors");
    auto const& d = devices[device];
    unsigned const group = cudart::capability(d) >= 90 ? 8 : 2;
    *out = {type, {}, static_cast<unsigned>(d.compute_units.value_or(0)), group, group, 0};
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuCtxGetDevResource(Context context, DevResource* out, int type) {
  return context ? cuDeviceGetDevResource(context->device, out, type) : no_context();
}
KERNELCAST_CUDA_EXPORT Code cuStreamGetDevResource(Stream stream, DevResource* out, int type) {
  Device device = 0;
  auto const code = cuStreamGetDevice(stream, &device);
  return code == Code::success ? cuDeviceGetDevResource(device, out, type) : code;
}
// There are none of a part: a stream's context has all of the device.
KERNELCAST_CUDA_EXPORT Code cuStreamGetGreenCtx(Stream stream, void** green) {
  Device device = 0;
  if (!green) return Code::invalid_value;
  *green = nullptr;
  return cuStreamGetDevice(stream, &device);
}
KERNELCAST_CUDA_EXPORT Code cuStreamGetCtx_v2(Stream stream, Context* context, void** green) {
  if (green) *green = nullptr;
  return cuStreamGetCtx(stream, context);
}
KERNELCAST_CUDA_EXPORT Code cuCtxGetFlags(unsigned* flags) {
  return of_context(nullptr, [&](ContextObject const& c) { return flags && (*flags = c.flags, true); });
}
KERNELCAST_CUDA_EXPORT Code cuCtxSetFlags(unsigned flags) {
  return of_context(nullptr, [&](ContextObject& c) { return c.flags = flags, true; });
}
KERNELCAST_CUDA_EXPORT Code cuCtxGetId(Context context, unsigned long long* id) {
  return of_context(context, [&](ContextObject const& c) { return id && (*id = c.id, true); });
}
KERNELCAST_CUDA_EXPORT Code cuCtxGetApiVersion(Context context, unsigned* out) {
  return of_context(context, [&](ContextObject const&) { return out && (*out = cudart::driver_version, true); });
}
KERNELCAST_CUDA_EXPORT Code cuCtxGetCacheConfig(int* config) {
  return of_context(nullptr, [&](ContextObject const&) { return config && (*config = 0, true); });
}
KERNELCAST_CUDA_ALIAS(cuCtxGetCacheConfig, cuCtxGetSharedMemConfig)
KERNELCAST_CUDA_EXPORT Code cuCtxSetCacheConfig(int) {
  return of_context(nullptr, [](ContextObject const&) { return true; });
}
KERNELCAST_CUDA_ALIAS(cuCtxSetCacheConfig, cuCtxSetSharedMemConfig)
KERNELCAST_CUDA_EXPORT Code cuCtxResetPersistingL2Cache() {
  return of_context(nullptr, [](ContextObject const&) { return true; });
}
// One memory: every context sees all of it.
KERNELCAST_CUDA_EXPORT Code cuCtxEnablePeerAccess(Context peer, unsigned flags) {
  return flags ? Code::invalid_value : of_context(peer, [](ContextObject const&) { return true; });
}
KERNELCAST_CUDA_EXPORT Code cuCtxDisablePeerAccess(Context peer) {
  return of_context(peer, [](ContextObject const&) { return true; });
}
// There is no profiler to be told.
KERNELCAST_CUDA_EXPORT Code cuProfilerStart() {
  return of_context(nullptr, [](ContextObject const&) { return true; });
}
KERNELCAST_CUDA_ALIAS(cuProfilerStart, cuProfilerStop)
KERNELCAST_CUDA_EXPORT Code cuProfilerInitialize(char const*, char const*, int) {
  return cudart::unsupported("cuProfilerInitialize");
}
