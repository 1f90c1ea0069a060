/* A stand-in for libcudart.so.13: "kernels" are functions of the host, and a launch takes 250 microseconds of the clock
   that events read, whatever it takes here. STANDIN_CUDA_DEVICES=0: no device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { success = 0, invalid_value = 1, no_device = 100 };

struct dim3 {
  unsigned x, y, z;
};
struct event {
  double at_s;
};
static double now_s;

static int devices(void) {
  char const* text = getenv("STANDIN_CUDA_DEVICES");
  return text ? atoi(text) : 1;
}

void** __cudaRegisterFatBinary(void* wrapper) {
  return wrapper;
}
void __cudaRegisterFunction(void** handle, char const* host, char* device, char const* name, int limit, void* tid,
                            void* bid, void* block, void* grid, int* warp_size) {
  (void)handle, (void)host, (void)device, (void)name, (void)limit, (void)tid, (void)bid, (void)block, (void)grid;
  (void)warp_size;
}
void __cudaRegisterVar(void** handle, char* host, char* device, char const* name, int external, size_t bytes,
                       int constant, int global) {
  (void)handle, (void)host, (void)device, (void)name, (void)external, (void)bytes, (void)constant, (void)global;
}
int cudaGetDevice(int* device) {
  *device = 0;
  return devices() > 0 ? success : no_device;
}
int cudaDeviceGetPCIBusId(char* text, int length, int device) {
  snprintf(text, (size_t)length, "0000:0%d:00.0", device);
  return success;
}
int cudaGetDeviceProperties(void* properties, int device) {
  (void)device;
  strcpy(properties, "NVIDIA GeForce GTX 1650");
  return success;
}
int cudaMalloc(void** at, size_t bytes) {
  *at = calloc(1, bytes);
  return devices() > 0 ? success : no_device;
}
int cudaMallocManaged(void** at, size_t bytes, unsigned flags) {
  (void)flags;
  return cudaMalloc(at, bytes);
}
int cudaHostAlloc(void** at, size_t bytes, unsigned flags) {
  (void)flags;
  return cudaMalloc(at, bytes);
}
int cudaFree(void* at) {
  free(at);
  return success;
}
int cudaFreeHost(void* at) {
  free(at);
  return success;
}
int cudaMemcpy(void* to, void const* from, size_t bytes, int kind) {
  (void)kind;
  memcpy(to, from, bytes);
  return success;
}
int cudaMemcpyFromSymbol(void* to, void const* symbol, size_t bytes, size_t offset, int kind) {
  return cudaMemcpy(to, (char const*)symbol + offset, bytes, kind);
}
int cudaMemcpyToSymbol(void const* symbol, void const* from, size_t bytes, size_t offset, int kind) {
  return cudaMemcpy((char*)symbol + offset, from, bytes, kind);
}
int cudaDeviceSynchronize(void) {
  return success;
}
int cudaStreamIsCapturing(void* stream, int* capturing) {
  *capturing = stream != NULL; /* the only other stream of the test is one */
  return success;
}
int cudaEventCreate(struct event** out) {
  *out = calloc(1, sizeof **out);
  return success;
}
int cudaEventDestroy(struct event* event) {
  free(event);
  return success;
}
int cudaEventRecord(struct event* event, void* stream) {
  (void)stream;
  event->at_s = now_s;
  return success;
}
int cudaEventSynchronize(struct event* event) {
  (void)event;
  return success;
}
int cudaEventElapsedTime(float* ms, struct event* begin, struct event* end) {
  *ms = (float)((end->at_s - begin->at_s) * 1000);
  return success;
}
int cudaLaunchKernel(void const* host, struct dim3 grid, struct dim3 block, void** arguments, size_t shared,
                     void* stream) {
  struct timespec const pause = {0, 100000};
  (void)grid, (void)shared, (void)stream;
  if (block.x > 1024) return invalid_value;
  nanosleep(&pause, NULL);
  now_s += 250e-6;
  ((void (*)(void**))host)(arguments);
  return success;
}
