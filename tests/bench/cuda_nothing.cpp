// A CUDA runtime that does nothing, to measure what comes before it: what intercept_cuda_bench.cpp is linked with.
#include "kernels/cuda/abi.hpp"

using namespace kernelcast::cudart;

KERNELCAST_CUDA_EXPORT void** __cudaRegisterFatBinary(void* wrapper) {
  return static_cast<void**>(wrapper);
}
KERNELCAST_CUDA_EXPORT void __cudaRegisterFunction(void**, char const*, char*, char const*, int, void*, void*, void*,
                                                   void*, int*) {}
KERNELCAST_CUDA_EXPORT Code cudaLaunchKernel(void const*, Dim3, Dim3, void**, std::size_t, Stream) {
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaMalloc(void** out, std::size_t) {
  alignas(256) static char memory[4096];
  *out = memory;
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaMemcpy(void*, void const*, std::size_t, CopyKind) {
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaMemcpyFromSymbol(void*, void const*, std::size_t, std::size_t, CopyKind) {
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaDeviceSynchronize() {
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaPeekAtLastError() {
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaGetLastError() {
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaStreamIsCapturing(Stream, int* status) {
  *status = 0;
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaDeviceGetAttribute(int* value, int, int) {
  *value = 8;
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaGetDevice(int* device) {
  *device = 0;
  return Code::success;
}
