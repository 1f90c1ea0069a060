// Devices: which there are, which is current, its limits and attributes.
#include <algorithm>
#include <cstdio>

#include "cudart/attributes.hpp"
#include "cudart/state.hpp"

using namespace kernelcast::cudart;

KERNELCAST_CUDA_EXPORT Code cudaGetDeviceCount(int* count) {
  return call([&](State& state) {
    if (!count) return Code::invalid_value;
    *count = state.devices.count();
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaGetDevice(int* device) {
  return call([&](State&) {
    if (!device) return Code::invalid_value;
    *device = current_device();
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaSetDevice(int device) {
  return call([&](State& state) {
    if (!state.devices.known(device)) return Code::invalid_device;
    current_device() = device;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaInitDevice(int device, unsigned, unsigned) {
  return call([&](State& state) { return state.devices.known(device) ? Code::success : Code::invalid_device; });
}
KERNELCAST_CUDA_EXPORT Code cudaSetValidDevices(int*, int) {
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaSetDeviceFlags(unsigned flags) {
  return call([&](State& state) {
    state.flags = flags;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaGetDeviceFlags(unsigned* flags) {
  return call([&](State& state) {
    *flags = state.flags;
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaDeviceSynchronize() {
  return call([](State& state) {
    state.commands.host_waits();
    return Code::success;
  });
}
KERNELCAST_CUDA_ALIAS(cudaDeviceSynchronize, cudaThreadSynchronize)

KERNELCAST_CUDA_EXPORT Code cudaDeviceReset() {
  auto& state = State::get();
  std::lock_guard const lock(state.mutex);
  state.reset();
  take_last_error();
  return Code::success;
}
KERNELCAST_CUDA_ALIAS(cudaDeviceReset, cudaThreadExit)

KERNELCAST_CUDA_EXPORT Code cudaDeviceGetAttribute(int* value, Attribute attribute, int device) {
  return call([&](State& state) {
    if (!value) return Code::invalid_value;
    if (!state.devices.known(device)) return Code::invalid_device;
    auto const found = value_of(attribute, state.devices[device]);
    if (!found) return Code::invalid_value;
    *value = *found;
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return call([&](State& state) {
    if (!state.devices.known(device)) return Code::invalid_device;
    if (std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", device + 1) >= length)
      return Code::invalid_value;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaDeviceGetByPCIBusId(int* device, char const* text) {
  return call([&](State& state) {
    unsigned domain = 0, bus = 0;
    if (std::sscanf(text, "%x:%x", &domain, &bus) != 2 || !state.devices.known(static_cast<int>(bus) - 1))
      return Code::invalid_device;
    *device = static_cast<int>(bus) - 1;
    return Code::success;
  });
}

namespace {

// Of limits that change nothing here: what was set. Null where the device has no such limit.
std::size_t* value_of_limit(State& state, Limit limit) {
  // [cuda] cudaDeviceSetLimit: kernels cannot wait for those that they launched from 9.0 on.
  if (limit == Limit::sync_depth && capability(state.device()) >= 90) return nullptr;
  auto const found = state.limits.find(limit);
  return found == state.limits.end() ? nullptr : &found->second;
}

}  // namespace

KERNELCAST_CUDA_EXPORT Code cudaDeviceGetLimit(std::size_t* value, Limit limit) {
  return call([&](State& state) {
    switch (limit) {
      case Limit::stack_bytes:
        *value = state.stack_bytes;
        return Code::success;
      case Limit::heap_bytes:
        *value = state.heap_bytes;
        return Code::success;
      case Limit::printf_bytes:
        *value = std::size_t{1} << 20;  // ours has none
        return Code::success;
      default:
        if (auto const* const kept = value_of_limit(state, limit)) {
          *value = *kept;
          return Code::success;
        }
        return Code::unsupported_limit;
    }
  });
}
KERNELCAST_CUDA_EXPORT Code cudaDeviceSetLimit(Limit limit, std::size_t value) {
  return call([&](State& state) {
    switch (limit) {
      case Limit::stack_bytes:
        state.stack_bytes = std::max<std::uint64_t>(value, state.settings.stack_bytes);
        return Code::success;
      case Limit::heap_bytes:
        state.heap_bytes = value;
        state.memory.limit_heap(value);
        return Code::success;
      case Limit::printf_bytes:
        return Code::success;
      default: {
        auto* const kept = value_of_limit(state, limit);
        if (!kept) return Code::unsupported_limit;
        *kept = value;
        return Code::success;
      }
    }
  });
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
  return call([&](State& state) {
    if (!state.devices.known(device) || !state.devices.known(peer)) return Code::invalid_device;
    *can = device != peer;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return call([&](State& state) { return state.devices.known(peer) ? Code::success : Code::invalid_device; });
}
KERNELCAST_CUDA_EXPORT Code cudaDeviceDisablePeerAccess(int peer) {
  return call([&](State& state) { return state.devices.known(peer) ? Code::success : Code::invalid_device; });
}
KERNELCAST_CUDA_EXPORT Code cudaDeviceGetP2PAttribute(int* value, int attribute, int from, int to) {
  return call([&](State& state) {
    if (!state.devices.known(from) || !state.devices.known(to) || from == to) return Code::invalid_device;
    constexpr int access = 2;
    *value = attribute == access;
    return Code::success;
  });
}
