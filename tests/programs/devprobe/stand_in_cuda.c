/* A CUDA driver without a GPU: memory is the host's, a launch does nothing but take time by its grid. For tests of what
 * devprobe does around the kernels, failures above all:
 *   STAND_IN_LOST=NAME   the device is lost when this kernel is launched
 *   STAND_IN_MEMORY=N    allocations above N bytes fail
 *   STAND_IN_DEVICES=N   so many devices (default 1)
 *   STAND_IN_INIT=N      cuInit returns N
 */
#include <stdlib.h>
#include <string.h>

typedef unsigned long long pointer;

static long number(char const* name, long otherwise) {
  char const* const text = getenv(name);
  return text ? atol(text) : otherwise;
}

static long launches;
static int is_lost;
static float elapsed_ms = 1;

int cuInit(unsigned flags) { return (void)flags, (int)number("STAND_IN_INIT", 0); }
int cuDriverGetVersion(int* version) { return *version = 12040, 0; }
int cuDeviceGetCount(int* count) { return *count = (int)number("STAND_IN_DEVICES", 1), 0; }
int cuDeviceGet(int* device, int index) { return *device = index, 0; }
int cuDeviceGetName(char* name, int size, int device) {
  (void)device;
  strncpy(name, "Stand-In GPU", (size_t)size);
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) { return (void)device, *bytes = (size_t)8 << 30, 0; }

int cuDeviceGetAttribute(int* value, int what, int device) {
  static int const known[][2] = {{1, 1024}, {8, 49152},     {10, 32}, {13, 1500000}, {16, 4},     {20, 0},
                                 {36, 5000000}, {37, 128},  {38, 1048576}, {39, 1024}, {75, 7},   {76, 5},
                                 {81, 65536},   {82, 65536}, {97, 65536},  {106, 16}};
  (void)device;
  *value = 0;
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (known[i][0] == what) *value = known[i][1];
  return 0;
}

int cuGetErrorName(int code, char const** name) {
  *name = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : code == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_UNKNOWN";
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) { return (void)device, *context = &launches, 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { return (void)device, 0; }
int cuCtxSetCurrent(void* context) { return (void)context, 0; }
int cuCtxSynchronize(void) { return 0; }
int cuModuleLoadData(void** module, void const* image) {
  *module = malloc(1);
  return strstr(image, ".entry") ? 0 : 218;
}
int cuModuleUnload(void* module) { return free(module), 0; }
/* A function is its name. */
int cuModuleGetFunction(void** function, void* module, char const* name) {
  static char names[64][64];
  size_t i = 0;
  (void)module;
  while (i < 63 && names[i][0] && strcmp(names[i], name) != 0) ++i;
  return *function = strncpy(names[i], name, 63), 0;
}
static unsigned char constants[8224];
int cuModuleGetGlobal_v2(pointer* address, size_t* bytes, void* module, char const* name) {
  (void)module, (void)name;
  *address = (pointer)(size_t)constants;
  *bytes = sizeof constants;
  return 0;
}
int cuFuncSetAttribute(void* function, int what, int value) { return (void)function, (void)what, (void)value, 0; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* groups, void* function, int size, size_t shared) {
  (void)function, (void)shared;
  return *groups = 1024 / size, 0;
}

int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void* stream, void** arguments, void** extra) {
  char const* const last = getenv("STAND_IN_LOST");
  (void)y, (void)z, (void)by, (void)bz, (void)stream, (void)arguments, (void)extra;
  if (bx > 1024 || shared > 65536) return 1;
  if (last && strcmp(function, last) == 0) is_lost = 1;
  if (is_lost) return 719;
  ++launches;
  /* No two alike, as on a device; a longer run takes longer. */
  elapsed_ms = 1 + 1e-4f * (float)x + 1e-3f * (float)(launches % 3);
  return 0;
}

int cuMemAlloc_v2(pointer* address, size_t bytes) {
  if ((long)bytes > number("STAND_IN_MEMORY", 1l << 40)) return 2;
  *address = (pointer)(size_t)malloc(bytes);
  return *address ? 0 : 2;
}
int cuMemFree_v2(pointer address) { return free((void*)(size_t)address), 0; }
int cuMemAllocHost_v2(void** address, size_t bytes) { return *address = malloc(bytes), 0; }
int cuMemFreeHost(void* address) { return free(address), 0; }
int cuMemcpyHtoD_v2(pointer to, void const* from, size_t bytes) { return memcpy((void*)(size_t)to, from, bytes), 0; }
int cuMemcpyDtoH_v2(void* to, pointer from, size_t bytes) {
  memcpy(to, (void*)(size_t)from, bytes);
  /* What clock_rate leaves: clocks and nanoseconds. */
  if (bytes == 16) ((pointer*)to)[0] = 1400000, ((pointer*)to)[1] = 1000000;
  return 0;
}
int cuMemcpyDtoD_v2(pointer to, pointer from, size_t bytes) {
  return memcpy((void*)(size_t)to, (void*)(size_t)from, bytes), 0;
}
int cuMemcpyHtoDAsync_v2(pointer to, void const* from, size_t bytes, void* stream) {
  return (void)stream, cuMemcpyHtoD_v2(to, from, bytes);
}
int cuMemcpyDtoHAsync_v2(void* to, pointer from, size_t bytes, void* stream) {
  return (void)stream, memcpy(to, (void*)(size_t)from, bytes), 0;
}
int cuMemcpy2D_v2(void const* copy) { return copy ? 0 : 1; }
int cuMemcpyPeer(pointer to, void* there, pointer from, void* here, size_t bytes) {
  return (void)there, (void)here, cuMemcpyDtoD_v2(to, from, bytes);
}
int cuStreamCreate(void** stream, unsigned flags) { return (void)flags, *stream = &launches, 0; }
int cuStreamDestroy_v2(void* stream) { return (void)stream, 0; }
int cuStreamSynchronize(void* stream) { return (void)stream, 0; }
int cuEventCreate(void** event, unsigned flags) { return (void)flags, *event = &launches, 0; }
int cuEventDestroy_v2(void* event) { return (void)event, 0; }
int cuEventRecord(void* event, void* stream) { return (void)event, (void)stream, 0; }
int cuEventSynchronize(void* event) { return (void)event, is_lost ? 719 : 0; }
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  return (void)begin, (void)end, *milliseconds = elapsed_ms, 0;
}
/* A graph is so many launches. */
static long captured;
int cuStreamBeginCapture_v2(void* stream, int mode) { return (void)stream, (void)mode, captured = launches, 0; }
int cuStreamEndCapture(void* stream, void** graph) { return (void)stream, *graph = &captured, launches == captured; }
int cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags) {
  return (void)flags, *exec = graph, 0;
}
int cuGraphLaunch(void* exec, void* stream) { return (void)exec, (void)stream, is_lost ? 719 : 0; }
int cuGraphDestroy(void* graph) { return (void)graph, 0; }
int cuGraphExecDestroy(void* exec) { return (void)exec, 0; }
int cuTexObjectCreate(pointer* object, void const* resource, void const* texture, void const* view) {
  (void)texture, (void)view;
  return *object = resource ? 7 : 0, 0;
}
int cuTexObjectDestroy(pointer object) { return (void)object, 0; }

/* NVRTC, from the same file under its own name: every source is one kernel. */
int nvrtcCreateProgram(void** program, char const* source, char const* name, int headers, char const* const* texts,
                       char const* const* names) {
  (void)name, (void)headers, (void)texts, (void)names;
  return *program = (void*)(size_t)source, 0;
}
int nvrtcDestroyProgram(void** program) { return *program = 0, 0; }
int nvrtcCompileProgram(void* program, int count, char const* const* options) {
  (void)program;
  return count > 0 && strcmp(options[0], "--gpu-architecture=compute_75") == 0 ? 0 : 6;
}
static char const ptx[] = ".visible .entry stand_in() { ret; }";
int nvrtcGetPTXSize(void* program, size_t* bytes) { return (void)program, *bytes = sizeof ptx, 0; }
int nvrtcGetPTX(void* program, char* text) { return (void)program, memcpy(text, ptx, sizeof ptx), 0; }
int nvrtcGetProgramLogSize(void* program, size_t* bytes) { return (void)program, *bytes = 1, 0; }
int nvrtcGetProgramLog(void* program, char* text) { return (void)program, *text = 0, 0; }
int nvrtcVersion(int* major, int* minor) { return *major = 12, *minor = 4, 0; }
