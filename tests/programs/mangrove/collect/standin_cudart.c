/* A stand-in for libcudart.so.13: "kernels" are functions of the host. STANDIN_CUDA_DEVICES=0: no device.

   Time is the stand-in's, too, for events and for all of the process: a launch takes 250 microseconds, everything else
   nothing. Threads that sleep wake when a launch has made it late enough, and the launch ends when they sleep again, so
   that what they see does not depend on the machine. The functions of the C library that stand here come before its own
   in every library of the process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { success = 0, invalid_value = 1, no_device = 100 };

struct dim3 {
  unsigned x, y, z;
};
struct event {
  double at_s;
};
static double now_s;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int threads, asleep, joining; /* beside the first thread */

static void later(double seconds) {
  pthread_mutex_lock(&lock);
  now_s += seconds;
  asleep = 0; /* each looks whether it is to go on, and says so if not */
  pthread_cond_broadcast(&changed);
  while (asleep < threads) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

int nanosleep(struct timespec const* pause, struct timespec* left) {
  double end_s, seen_s = -1;
  (void)left;
  pthread_mutex_lock(&lock);
  for (end_s = now_s + (double)pause->tv_sec + 1e-9 * (double)pause->tv_nsec; now_s < end_s && !joining;) {
    if (seen_s != now_s) {
      seen_s = now_s;
      ++asleep;
      pthread_cond_broadcast(&changed);
    }
    pthread_cond_wait(&changed, &lock);
  }
  pthread_mutex_unlock(&lock);
  return 0;
}
int clock_gettime(clockid_t clock, struct timespec* now) {
  double s;
  if (clock != CLOCK_MONOTONIC) return (int)syscall(SYS_clock_gettime, clock, now);
  pthread_mutex_lock(&lock);
  s = 1000 + now_s;
  pthread_mutex_unlock(&lock);
  now->tv_sec = (time_t)s;
  now->tv_nsec = (long)((s - (double)now->tv_sec) * 1e9);
  return 0;
}
int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*run)(void*), void* argument) {
  int (*const real)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*) =
      (int (*)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*))dlsym(RTLD_NEXT, "pthread_create");
  pthread_mutex_lock(&lock);
  ++threads;
  pthread_mutex_unlock(&lock);
  return real(thread, attributes, run, argument);
}
int pthread_join(pthread_t thread, void** result) {
  int (*const real)(pthread_t, void**) = (int (*)(pthread_t, void**))dlsym(RTLD_NEXT, "pthread_join");
  int status;
  pthread_mutex_lock(&lock);
  joining = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  status = real(thread, result);
  pthread_mutex_lock(&lock);
  joining = 0;
  --threads;
  pthread_mutex_unlock(&lock);
  return status;
}

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
  (void)grid, (void)shared, (void)stream;
  if (block.x > 1024) return invalid_value;
  later(250e-6);
  ((void (*)(void**))host)(arguments);
  return success;
}
