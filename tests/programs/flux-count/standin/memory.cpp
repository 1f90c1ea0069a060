// Devices and memory.
#include <cstdlib>

#include "state.hpp"

using namespace standin;

extern "C" {

int cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return success;
}
int cudaGetLastError() {
  Lock const lock;
  return state().error;
}
int cudaGetDeviceCount(int* count) {
  *count = devices;
  return success;
}
int cudaGetDevice(int* device) {
  *device = current_device();
  return success;
}
int cudaSetDevice(int device) {
  if (device < 0 || device >= devices) return 101;  // cudaErrorInvalidDevice
  current_device() = device;
  return success;
}
int cudaDeviceSynchronize() {
  Lock const lock;
  if (int const error = forbidden_in_capture()) return error;
  return finish_device(current_device());
}

int cudaMalloc(void** out, std::size_t bytes) {
  Lock const lock;
  if (int const error = forbidden_in_capture()) return error;
  *out = reinterpret_cast<void*>(device_now().memory.add("cudaMalloc", bytes));
  return success;
}
int cudaMallocHost(void** out, std::size_t bytes) {
  Lock const lock;
  if (int const error = forbidden_in_capture()) return error;
  *out = std::calloc(1, bytes);
  return success;
}
int cudaFree(void*) {
  return success;
}
int cudaMemcpy(void* to, void const* from, std::size_t bytes, int kind) {
  Lock const lock;
  if (int const error = forbidden_in_capture()) return error;
  return submit(device_now().legacy, copy_work(to, from, bytes, kind));
}
int cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, int kind, void* stream) {
  Lock const lock;
  return submit(stream_of(stream), copy_work(to, from, bytes, kind));
}
int cudaMemset(void* at, int value, std::size_t bytes) {
  Lock const lock;
  return submit(device_now().legacy, fill_work(at, value, bytes));
}
int cudaMemsetAsync(void* at, int value, std::size_t bytes, void* stream) {
  Lock const lock;
  return submit(stream_of(stream), fill_work(at, value, bytes));
}

}  // extern "C"
