// NVML on the emulator beside the CUDA runtime: the same devices, by every way to a handle.
#include <cstdint>
#include <cstring>
#include <string>

#include "expect.hpp"
#include "kernels/cuda/abi.hpp"

using kernelcast::cudart::Code;

extern "C" {
struct nvmlDevice;
int nvmlInit_v2();
int nvmlShutdown();
char const* nvmlErrorString(int);
int nvmlDeviceGetCount_v2(unsigned*);
int nvmlDeviceGetHandleByIndex_v2(unsigned, nvmlDevice**);
int nvmlDeviceGetHandleByUUID(char const*, nvmlDevice**);
int nvmlDeviceGetHandleByPciBusId_v2(char const*, nvmlDevice**);
int nvmlDeviceGetName(nvmlDevice*, char*, unsigned);
int nvmlDeviceGetUUID(nvmlDevice*, char*, unsigned);
int nvmlDeviceGetIndex(nvmlDevice*, unsigned*);
int nvmlDeviceGetMemoryInfo(nvmlDevice*, unsigned long long*);
int nvmlDeviceGetCudaComputeCapability(nvmlDevice*, int*, int*);
int nvmlDeviceGetArchitecture(nvmlDevice*, unsigned*);
int nvmlDeviceGetNumGpuCores(nvmlDevice*, unsigned*);
int nvmlDeviceGetPowerManagementLimit(nvmlDevice*, unsigned*);
int nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice*, unsigned*);
int nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice*, unsigned*);
int nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice*, unsigned*, void*);
int nvmlDeviceGetTemperature(nvmlDevice*, int, unsigned*);

Code cudaGetDeviceCount(int*);
Code cudaSetDevice(int);
Code cudaMemGetInfo(std::size_t*, std::size_t*);
Code cudaMalloc(void**, std::size_t);
Code cudaDeviceGetPCIBusId(char*, int, int);
Code cudaDeviceGetAttribute(int*, int, int);
}

namespace {

constexpr int success = 0, uninitialized = 1, invalid_argument = 2, not_supported = 3, not_found = 6, too_small = 7;

void check_device(unsigned d) {
  nvmlDevice *device = nullptr, *other = nullptr;
  EXPECT(nvmlDeviceGetHandleByIndex_v2(d, &device) == success);
  char text[96], uuid[96];
  unsigned value = 0;
  EXPECT(nvmlDeviceGetUUID(device, uuid, sizeof uuid) == success && std::strlen(uuid) == 40);
  EXPECT(nvmlDeviceGetHandleByUUID(uuid, &other) == success && other == device);
  EXPECT(cudaDeviceGetPCIBusId(text, sizeof text, static_cast<int>(d)) == Code::success);
  EXPECT(nvmlDeviceGetHandleByPciBusId_v2(text, &other) == success && other == device);
  EXPECT(nvmlDeviceGetIndex(device, &value) == success && value == d);

  // What the application has allocated is in use.
  std::size_t free = 0, total = 0;
  void* memory = nullptr;
  EXPECT(cudaSetDevice(static_cast<int>(d)) == Code::success);
  EXPECT(cudaMalloc(&memory, 1 << 20) == Code::success && cudaMemGetInfo(&free, &total) == Code::success);
  unsigned long long bytes[3] = {};
  EXPECT(nvmlDeviceGetMemoryInfo(device, bytes) == success);
  EXPECT(bytes[0] == total && bytes[1] == free && bytes[2] >= 1 << 20 && bytes[0] == bytes[1] + bytes[2]);

  int major = 0, minor = 0, attribute = 0;
  constexpr int capability_major = 75;
  EXPECT(nvmlDeviceGetCudaComputeCapability(device, &major, &minor) == success);
  EXPECT(cudaDeviceGetAttribute(&attribute, capability_major, static_cast<int>(d)) == Code::success);
  EXPECT(attribute == major);
  EXPECT(nvmlDeviceGetName(device, text, 5) == too_small);
  EXPECT(nvmlDeviceGetTemperature(device, 0, &value) == not_supported);
  EXPECT(nvmlDeviceGetComputeRunningProcesses_v3(device, &(value = 0), nullptr) == too_small && value == 1);
}

}  // namespace

int main() {
  unsigned count = 0;
  nvmlDevice* device = nullptr;
  EXPECT(nvmlDeviceGetCount_v2(&count) == uninitialized);
  EXPECT(nvmlInit_v2() == success && nvmlInit_v2() == success && nvmlShutdown() == success);
  int of_runtime = 0;
  EXPECT(cudaGetDeviceCount(&of_runtime) == Code::success);
  EXPECT(nvmlDeviceGetCount_v2(&count) == success && static_cast<int>(count) == of_runtime && count == 2);
  EXPECT(nvmlDeviceGetHandleByIndex_v2(2, &device) == invalid_argument);
  EXPECT(nvmlDeviceGetHandleByUUID("GPU-none", &device) == not_found);
  for (unsigned d = 0; d < count; ++d) check_device(d);

  // The figures of NVIDIA's A100 SXM4.
  char name[96];
  unsigned value = 0;
  EXPECT(nvmlDeviceGetHandleByIndex_v2(0, &device) == success);
  EXPECT(nvmlDeviceGetName(device, name, sizeof name) == success && std::string(name) == "NVIDIA A100 SXM4 40GB");
  EXPECT(nvmlDeviceGetArchitecture(device, &value) == success && value == 7);
  EXPECT(nvmlDeviceGetNumGpuCores(device, &value) == success && value == 6912);
  EXPECT(nvmlDeviceGetPowerManagementLimit(device, &value) == success && value == 400000);
  EXPECT(nvmlDeviceGetMaxPcieLinkGeneration(device, &value) == success && value == 4);
  EXPECT(nvmlDeviceGetMaxPcieLinkWidth(device, &value) == success && value == 16);
  EXPECT(std::string(nvmlErrorString(not_supported)) == "Not Supported");
  EXPECT(nvmlShutdown() == success && nvmlShutdown() == uninitialized);
  std::printf("%d failures\n", failures);
  return failures > 0;
}
