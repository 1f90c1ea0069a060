// Devices: which there are, which is current, its limits and attributes.
#include <algorithm>
#include <cstdio>

#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/arrays.hpp"
#include "runtimes/cudart/attributes.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/commands.hpp"
#include "runtimes/cudart/deferred.hpp"
#include "runtimes/cudart/device_limits.hpp"
#include "runtimes/cudart/devices.hpp"
#include "runtimes/cudart/graphs.hpp"
#include "runtimes/cudart/launch.hpp"
#include "runtimes/cudart/streams.hpp"
#include "runtimes/cudart/textures.hpp"
#include "runtimes/cudart/timeline.hpp"

using namespace kernelcast::cudart;

KERNELCAST_CUDA_EXPORT Code cudaGetDeviceCount(int* count) {
  return call([&](Devices const& devices) {
    if (!count) return Code::invalid_value;
    *count = devices.count();
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaGetDevice(int* device) {
  return call([&]() {
    if (!device) return Code::invalid_value;
    *device = current_device();
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaSetDevice(int device) {
  return call([&](Devices const& devices) {
    if (!devices.known(device)) return Code::invalid_device;
    current_device() = device;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaInitDevice(int device, unsigned, unsigned) {
  return call([&](Devices const& devices) { return devices.known(device) ? Code::success : Code::invalid_device; });
}
KERNELCAST_CUDA_EXPORT Code cudaSetValidDevices(int*, int) {
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaSetDeviceFlags(unsigned flags) {
  return call([&](DeviceLimits& limits) {
    limits.flags = flags;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaGetDeviceFlags(unsigned* flags) {
  return call([&](DeviceLimits const& limits) {
    *flags = limits.flags;
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaDeviceSynchronize() {
  return call([](Commands& commands, Timeline& timeline, Launcher& launcher) {
    launcher.release(std::nullopt, true);
    commands.host_waits();
    timeline.host_waits();
    return Code::success;
  });
}
KERNELCAST_CUDA_ALIAS(cudaDeviceSynchronize, cudaThreadSynchronize)

KERNELCAST_CUDA_EXPORT Code cudaDeviceReset() {
  // Variables of programs keep their values.
  locked([](StickyError& error, Graphs& graphs, Streams& streams, Textures& textures, Arrays& arrays,
            Allocations& allocations, Deferred& deferred, Timeline& timeline, Launcher& launcher) {
    launcher.forget_held();
    error.code = Code::success;
    deferred.drop_all();
    graphs = {};
    timeline.destroyed_all();
    streams.clear();
    textures.clear();
    arrays.clear();
    allocations.clear();
  });
  destroy_unreferenced();
  take_last_error();
  return Code::success;
}
KERNELCAST_CUDA_ALIAS(cudaDeviceReset, cudaThreadExit)

KERNELCAST_CUDA_EXPORT Code cudaDeviceGetAttribute(int* value, Attribute attribute, int device) {
  return call([&](Devices const& devices) {
    if (!value) return Code::invalid_value;
    if (!devices.known(device)) return Code::invalid_device;
    auto const found = value_of(attribute, devices[device], device);
    if (!found) return Code::invalid_value;
    *value = *found;
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return call([&](Devices const& devices) {
    if (!devices.known(device)) return Code::invalid_device;
    if (std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", device + 1) >= length)
      return Code::invalid_value;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaDeviceGetByPCIBusId(int* device, char const* text) {
  return call([&](Devices const& devices) {
    unsigned domain = 0, bus = 0;
    if (std::sscanf(text, "%x:%x", &domain, &bus) != 2 || !devices.known(static_cast<int>(bus) - 1))
      return Code::invalid_device;
    *device = static_cast<int>(bus) - 1;
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaDeviceGetLimit(std::size_t* value, Limit limit) {
  return call([&](DeviceLimits const& limits) {
    auto const found = limits.get(limit);
    if (!found) return Code::unsupported_limit;
    *value = *found;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaDeviceSetLimit(Limit limit, std::size_t value) {
  return call([&](DeviceLimits& limits) { return limits.set(limit, value) ? Code::success : Code::unsupported_limit; });
}

KERNELCAST_CUDA_ALIAS(cudaDeviceGetLimit, cudaThreadGetLimit)
KERNELCAST_CUDA_ALIAS(cudaDeviceSetLimit, cudaThreadSetLimit)

KERNELCAST_CUDA_EXPORT Code cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return Code::success;
}

// Peers: all devices are one memory.
KERNELCAST_CUDA_EXPORT Code cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&](Devices const& devices) {
    if (!devices.known(device) || !devices.known(peer)) return Code::invalid_device;
    *can = device != peer;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return call([&](Devices const& devices) { return devices.known(peer) ? Code::success : Code::invalid_device; });
}
KERNELCAST_CUDA_EXPORT Code cudaDeviceDisablePeerAccess(int peer) {
  return call([&](Devices const& devices) { return devices.known(peer) ? Code::success : Code::invalid_device; });
}
KERNELCAST_CUDA_EXPORT Code cudaDeviceGetP2PAttribute(int* value, int attribute, int from, int to) {
  return call([&](Devices const& devices) {
    if (!devices.known(from) || !devices.known(to) || from == to) return Code::invalid_device;
    constexpr int access = 2;
    *value = attribute == access;
    return Code::success;
  });
}
