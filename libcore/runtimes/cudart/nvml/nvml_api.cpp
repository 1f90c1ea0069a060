// NVML (libnvidia-ml.so.1): what the devices of --as are. Monitors ask it, and programs that look for a GPU (JAX).
//
// Facts: names, numbers and layouts are those of NVIDIA's nvml.h, as the package nvidia-ml-py has them. Nothing runs on
// these devices beside the application, and no sensor has a value: what asks for one is not supported. Functions that
// are not here are missing, which the linker and pynvml name.
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/attributes.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/devices.hpp"

using namespace kernelcast::cudart;
namespace device = kernelcast::device;

namespace {

enum class Result : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  not_found = 6,
  insufficient_size = 7
};

struct Handle {
  int index;
};
constexpr std::size_t max_devices = 64;
std::array<Handle, max_devices> all_handles = [] {
  std::array<Handle, max_devices> out{};
  for (std::size_t d = 0; d < out.size(); ++d) out[d].index = static_cast<int>(d);
  return out;
}();
std::atomic<int> initialized = 0;  // and not shut down, how often

// `body` gets the devices, and of a handle its number.
template <class Body>
Result of_all(Body const& body) {
  if (initialized <= 0) return Result::uninitialized;
  return locked([&](Devices const& devices) { return body(devices); });
}
template <class Body>
Result of_device(Handle const* handle, Body const& body) {
  return of_all([&](Devices const& devices) {
    if (!handle || !devices.known(handle->index)) return Result::invalid_argument;
    return body(devices[handle->index], handle->index);
  });
}

Result text(std::string const& value, char* out, unsigned size) {
  if (!out) return Result::invalid_argument;
  if (value.size() >= size) return Result::insufficient_size;
  std::memcpy(out, value.c_str(), value.size() + 1);
  return Result::success;
}

// A figure that the database may not have.
template <class T>
Result figure(std::optional<T> value, double unit, unsigned* out) {
  if (!out) return Result::invalid_argument;
  if (!value) return Result::not_supported;
  *out = static_cast<unsigned>(static_cast<double>(*value) / unit + 0.5);
  return Result::success;
}
Result constant(unsigned value, unsigned* out) {
  return figure(std::optional(value), 1, out);
}

std::string uuid_of(device::Device const& d, int index) {
  char bytes[16], out[48] = "GPU-";
  write_uuid(d, index, bytes);
  char* at = out + 4;
  for (std::size_t b = 0; b < sizeof bytes; ++b)
    at += std::sprintf(at, b == 4 || b == 6 || b == 8 || b == 10 ? "-%02x" : "%02x",
                       static_cast<unsigned char>(bytes[b]));
  return out;
}

// As cudaDeviceGetPCIBusId has it.
unsigned bus_of(int index) {
  return static_cast<unsigned>(index) + 1;
}

// "PCIe 4.0 x16": generation and lanes.
struct Link {
  unsigned generation = 0, lanes = 0;
};
Link link_of(device::Device const& d) {
  Link out;
  if (std::sscanf(d.link.c_str(), "PCIe %u.%*u x%u", &out.generation, &out.lanes) != 2) return {};
  return out;
}

struct Pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char text[32];
};
struct Memory {
  unsigned long long total, free, used;
};
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
struct Process {  // version 3
  unsigned process;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

std::uint64_t used_bytes(int index) {
  return locked([&](Allocations const& allocations) { return allocations.used_bytes(index); });
}

enum class Clock : int { graphics, sm, memory, video };
Result clock_of(Handle const* handle, Clock clock, bool highest, unsigned* mhz) {
  return of_device(handle, [&](device::Device const& d, int index) {
    if (clock == Clock::memory) {
      auto const khz = value_of(Attribute::memory_clock_rate, d, index);
      return figure(khz && *khz > 0 ? khz : std::nullopt, 1e3, mhz);
    }
    return figure(highest && d.clock_boost_hz ? d.clock_boost_hz : d.clock_hz, 1e6, mhz);
  });
}

unsigned architecture_of(device::Device const& d) {
  constexpr std::string_view names[] = {"Kepler", "Maxwell", "Pascal", "Volta",    "Turing",
                                        "Ampere", "Ada",     "Hopper", "Blackwell"};
  for (unsigned a = 0; a < std::size(names); ++a)
    if (std::string_view(d.architecture).starts_with(names[a])) return a + 2;
  return ~0u;
}

}  // namespace

#define EXPORT KERNELCAST_CUDA_EXPORT Result

// ---------------------------------------------------------------- the library

EXPORT nvmlInit_v2() {
  ++initialized;
  return Result::success;
}
EXPORT nvmlInitWithFlags(unsigned) {
  return nvmlInit_v2();
}
KERNELCAST_CUDA_ALIAS(nvmlInit_v2, nvmlInit)
EXPORT nvmlShutdown() {
  if (initialized <= 0) return Result::uninitialized;
  --initialized;
  return Result::success;
}
KERNELCAST_CUDA_EXPORT char const* nvmlErrorString(Result result) {
  switch (result) {
    case Result::success:
      return "Success";
    case Result::uninitialized:
      return "Uninitialized";
    case Result::invalid_argument:
      return "Invalid Argument";
    case Result::not_supported:
      return "Not Supported";
    case Result::not_found:
      return "Not Found";
    case Result::insufficient_size:
      return "Insufficient Size";
  }
  return "Unknown Error";
}
EXPORT nvmlSystemGetCudaDriverVersion_v2(int* version) {
  if (!version) return Result::invalid_argument;
  *version = driver_version;
  return Result::success;
}
KERNELCAST_CUDA_ALIAS(nvmlSystemGetCudaDriverVersion_v2, nvmlSystemGetCudaDriverVersion)
// Assumed: no driver is there, and what asks wants one that is new enough.
EXPORT nvmlSystemGetDriverVersion(char* out, unsigned size) {
  return text("610.00", out, size);
}
EXPORT nvmlSystemGetNVMLVersion(char* out, unsigned size) {
  return text("13.610.00", out, size);
}
EXPORT nvmlSystemGetProcessName(unsigned process, char* out, unsigned size) {
  char path[64], name[4096];
  std::snprintf(path, sizeof path, "/proc/%u/exe", process);
  auto const length = readlink(path, name, sizeof name);
  return length < 0 ? Result::not_found : text(std::string(name, static_cast<std::size_t>(length)), out, size);
}

// ---------------------------------------------------------------- which devices there are

EXPORT nvmlDeviceGetCount_v2(unsigned* count) {
  return of_all([&](Devices const& devices) { return constant(static_cast<unsigned>(devices.count()), count); });
}
KERNELCAST_CUDA_ALIAS(nvmlDeviceGetCount_v2, nvmlDeviceGetCount)
EXPORT nvmlDeviceGetHandleByIndex_v2(unsigned index, Handle** handle) {
  return of_all([&](Devices const& devices) {
    if (!handle || index >= max_devices || !devices.known(static_cast<int>(index))) return Result::invalid_argument;
    *handle = &all_handles[index];
    return Result::success;
  });
}
KERNELCAST_CUDA_ALIAS(nvmlDeviceGetHandleByIndex_v2, nvmlDeviceGetHandleByIndex)
EXPORT nvmlDeviceGetHandleByUUID(char const* uuid, Handle** handle) {
  return of_all([&](Devices const& devices) {
    if (!uuid || !handle) return Result::invalid_argument;
    for (int d = 0; d < devices.count(); ++d)
      if (uuid_of(devices[d], d) == uuid) {
        *handle = &all_handles[static_cast<std::size_t>(d)];
        return Result::success;
      }
    return Result::not_found;
  });
}
EXPORT nvmlDeviceGetHandleByPciBusId_v2(char const* id, Handle** handle) {
  return of_all([&](Devices const& devices) {
    unsigned domain = 0, bus = 0;
    if (!id || !handle || std::sscanf(id, "%x:%x:", &domain, &bus) != 2) return Result::invalid_argument;
    auto const device = static_cast<int>(bus) - 1;
    if (domain != 0 || !devices.known(device)) return Result::not_found;
    *handle = &all_handles[static_cast<std::size_t>(device)];
    return Result::success;
  });
}
KERNELCAST_CUDA_ALIAS(nvmlDeviceGetHandleByPciBusId_v2, nvmlDeviceGetHandleByPciBusId)
EXPORT nvmlDeviceGetIndex(Handle const* handle, unsigned* out) {
  return of_device(handle, [&](device::Device const&, int d) { return constant(static_cast<unsigned>(d), out); });
}
KERNELCAST_CUDA_ALIAS(nvmlDeviceGetIndex, nvmlDeviceGetMinorNumber)
EXPORT nvmlDeviceGetName(Handle const* handle, char* out, unsigned size) {
  return of_device(handle, [&](device::Device const& d, int) { return text("NVIDIA " + d.name, out, size); });
}
EXPORT nvmlDeviceGetUUID(Handle const* handle, char* out, unsigned size) {
  return of_device(handle, [&](device::Device const& d, int index) { return text(uuid_of(d, index), out, size); });
}
EXPORT nvmlDeviceGetPciInfo_v3(Handle const* handle, Pci* out) {
  return of_device(handle, [&](device::Device const&, int d) {
    if (!out) return Result::invalid_argument;
    *out = {};
    out->bus = bus_of(d);
    std::snprintf(out->legacy, sizeof out->legacy, "0000:%02X:00.0", out->bus & 0xff);
    std::snprintf(out->text, sizeof out->text, "00000000:%02X:00.0", out->bus & 0xff);
    return Result::success;
  });
}
KERNELCAST_CUDA_ALIAS(nvmlDeviceGetPciInfo_v3, nvmlDeviceGetPciInfo_v2)
KERNELCAST_CUDA_ALIAS(nvmlDeviceGetPciInfo_v3, nvmlDeviceGetPciInfo)

// ---------------------------------------------------------------- what a device is

EXPORT nvmlDeviceGetArchitecture(Handle const* handle, unsigned* out) {
  return of_device(handle, [&](device::Device const& d, int) { return constant(architecture_of(d), out); });
}
EXPORT nvmlDeviceGetCudaComputeCapability(Handle const* handle, int* major, int* minor) {
  return of_device(handle, [&](device::Device const& d, int) {
    if (!major || !minor) return Result::invalid_argument;
    std::tie(*major, *minor) = version_of(d);
    return Result::success;
  });
}
EXPORT nvmlDeviceGetNumGpuCores(Handle const* handle, unsigned* out) {
  return of_device(handle, [&](device::Device const& d, int) { return figure(d.lanes, 1, out); });
}
EXPORT nvmlDeviceGetMemoryBusWidth(Handle const* handle, unsigned* out) {
  return of_device(handle, [&](device::Device const& d, int) { return figure(d.memory_bus_bits, 1, out); });
}
EXPORT nvmlDeviceGetMemoryInfo(Handle const* handle, Memory* out) {
  return of_all([&](Devices const& devices) {
    if (!out || !handle || !devices.known(handle->index)) return Result::invalid_argument;
    out->total = devices.memory_bytes(handle->index);
    out->used = used_bytes(handle->index);
    out->free = out->total - std::min(out->total, out->used);
    return Result::success;
  });
}
EXPORT nvmlDeviceGetMemoryInfo_v2(Handle const* handle, MemoryV2* out) {
  Memory memory{};
  auto const result = out ? nvmlDeviceGetMemoryInfo(handle, &memory) : Result::invalid_argument;
  if (result == Result::success) *out = {out->version, memory.total, 0, memory.free, memory.used};
  return result;
}
EXPORT nvmlDeviceGetClockInfo(Handle const* handle, Clock clock, unsigned* mhz) {
  return clock_of(handle, clock, false, mhz);
}
KERNELCAST_CUDA_ALIAS(nvmlDeviceGetClockInfo, nvmlDeviceGetApplicationsClock)
EXPORT nvmlDeviceGetMaxClockInfo(Handle const* handle, Clock clock, unsigned* mhz) {
  return clock_of(handle, clock, true, mhz);
}
EXPORT nvmlDeviceGetPowerManagementLimit(Handle const* handle, unsigned* milliwatts) {
  return of_device(handle, [&](device::Device const& d, int) { return figure(d.tdp_w, 1e-3, milliwatts); });
}
KERNELCAST_CUDA_ALIAS(nvmlDeviceGetPowerManagementLimit, nvmlDeviceGetEnforcedPowerLimit)
KERNELCAST_CUDA_ALIAS(nvmlDeviceGetPowerManagementLimit, nvmlDeviceGetPowerManagementDefaultLimit)
EXPORT nvmlDeviceGetCurrPcieLinkGeneration(Handle const* handle, unsigned* out) {
  return of_device(handle, [&](device::Device const& d, int) {
    auto const link = link_of(d);
    return figure(link.generation ? std::optional(link.generation) : std::nullopt, 1, out);
  });
}
KERNELCAST_CUDA_ALIAS(nvmlDeviceGetCurrPcieLinkGeneration, nvmlDeviceGetMaxPcieLinkGeneration)
EXPORT nvmlDeviceGetCurrPcieLinkWidth(Handle const* handle, unsigned* out) {
  return of_device(handle, [&](device::Device const& d, int) {
    auto const link = link_of(d);
    return figure(link.lanes ? std::optional(link.lanes) : std::nullopt, 1, out);
  });
}
KERNELCAST_CUDA_ALIAS(nvmlDeviceGetCurrPcieLinkWidth, nvmlDeviceGetMaxPcieLinkWidth)

// ---------------------------------------------------------------- what it does

EXPORT nvmlDeviceGetComputeRunningProcesses_v3(Handle const* handle, unsigned* count, Process* out) {
  return of_device(handle, [&](device::Device const&, int d) {
    if (!count) return Result::invalid_argument;
    bool const fits = *count >= 1 && out;
    *count = 1;
    if (!fits) return Result::insufficient_size;
    *out = {static_cast<unsigned>(getpid()), used_bytes(d), ~0u, ~0u};
    return Result::success;
  });
}
KERNELCAST_CUDA_ALIAS(nvmlDeviceGetComputeRunningProcesses_v3, nvmlDeviceGetComputeRunningProcesses_v2)
EXPORT nvmlDeviceGetGraphicsRunningProcesses_v3(Handle const* handle, unsigned* count, Process*) {
  return of_device(handle, [&](device::Device const&, int) { return constant(0, count); });
}
KERNELCAST_CUDA_ALIAS(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlDeviceGetGraphicsRunningProcesses_v2)
EXPORT nvmlDeviceGetUtilizationRates(Handle const* handle, Utilization* out) {
  return of_device(handle, [&](device::Device const&, int) {
    if (!out) return Result::invalid_argument;
    *out = {};
    return Result::success;
  });
}

// Modes: the default one, and performance state 0.
#define ZERO(function)                                                                      \
  EXPORT function(Handle const* handle, unsigned* out) {                                    \
    return of_device(handle, [&](device::Device const&, int) { return constant(0, out); }); \
  }
ZERO(nvmlDeviceGetComputeMode)
ZERO(nvmlDeviceGetPersistenceMode)
ZERO(nvmlDeviceGetPerformanceState)
ZERO(nvmlDeviceGetMultiGpuBoard)
ZERO(nvmlDeviceIsMigDeviceHandle)

// There are no sensors, links between devices, partitions or units.
#define NOT_SUPPORTED(function)   \
  EXPORT function() {             \
    return Result::not_supported; \
  }
NOT_SUPPORTED(nvmlDeviceGetTemperature)
NOT_SUPPORTED(nvmlDeviceGetPowerUsage)
NOT_SUPPORTED(nvmlDeviceGetTotalEnergyConsumption)
NOT_SUPPORTED(nvmlDeviceGetFanSpeed)
NOT_SUPPORTED(nvmlDeviceGetFanSpeed_v2)
NOT_SUPPORTED(nvmlDeviceGetEccMode)
NOT_SUPPORTED(nvmlDeviceGetMigMode)
NOT_SUPPORTED(nvmlDeviceGetBrand)
NOT_SUPPORTED(nvmlDeviceGetSerial)
NOT_SUPPORTED(nvmlDeviceGetNvLinkState)
NOT_SUPPORTED(nvmlDeviceGetNvLinkVersion)
NOT_SUPPORTED(nvmlDeviceGetNvLinkCapability)
NOT_SUPPORTED(nvmlDeviceGetNvLinkRemotePciInfo_v2)
NOT_SUPPORTED(nvmlDeviceGetGpuFabricInfo)
NOT_SUPPORTED(nvmlDeviceGetGpuFabricInfoV)
NOT_SUPPORTED(nvmlDeviceGetFieldValues)
NOT_SUPPORTED(nvmlDeviceGetP2PStatus)
NOT_SUPPORTED(nvmlDeviceGetTopologyCommonAncestor)
NOT_SUPPORTED(nvmlDeviceGetCpuAffinity)
NOT_SUPPORTED(nvmlDeviceGetNumaNodeId)
NOT_SUPPORTED(nvmlDeviceGetPcieThroughput)
NOT_SUPPORTED(nvmlDeviceGetCurrentClocksThrottleReasons)
NOT_SUPPORTED(nvmlDeviceGetSupportedGraphicsClocks)
NOT_SUPPORTED(nvmlDeviceGetSupportedMemoryClocks)
NOT_SUPPORTED(nvmlDeviceSetApplicationsClocks)
NOT_SUPPORTED(nvmlDeviceSetGpuLockedClocks)
NOT_SUPPORTED(nvmlDeviceResetGpuLockedClocks)
NOT_SUPPORTED(nvmlDeviceSetPersistenceMode)
NOT_SUPPORTED(nvmlDeviceSetPowerManagementLimit)
NOT_SUPPORTED(nvmlUnitGetCount)
