/* An OpenCL driver without a GPU, as stand_in_cuda.c is one of CUDA: memory is the host's, a launch takes time by its
 * grid and does nothing else.
 *   STAND_IN_LOST=NAME   the device is lost when this kernel is launched
 *   STAND_IN_MEMORY=N    buffers above N bytes fail
 *   STAND_IN_DEVICES=N   so many devices (default 1)
 *   STAND_IN_CONTEXT=N   clCreateContext gives this error
 *   STAND_IN_BUILD=N     clBuildProgram gives this error
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <stdlib.h>
#include <string.h>

static long number(char const* name, long otherwise) {
  char const* const text = getenv(name);
  return text ? atol(text) : otherwise;
}

static int object; /* all that is neither memory nor a kernel, which is its name */
static long launches;
static int is_lost;
static cl_ulong elapsed_ns = 1000000;

static cl_int give(void const* data, size_t bytes, size_t capacity, void* value, size_t* size) {
  if (size) *size = bytes;
  if (value && capacity < bytes) return CL_INVALID_VALUE;
  if (value) memcpy(value, data, bytes);
  return CL_SUCCESS;
}
static cl_int give_text(char const* text, size_t capacity, void* value, size_t* size) {
  return give(text, strlen(text) + 1, capacity, value, size);
}

cl_int clGetPlatformIDs(cl_uint capacity, cl_platform_id* platforms, cl_uint* count) {
  if (count) *count = 1;
  if (platforms && capacity > 0) platforms[0] = (cl_platform_id)&object;
  return CL_SUCCESS;
}
cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t capacity, void* value, size_t* size) {
  (void)platform, (void)what;
  return give_text("Stand-In Platform", capacity, value, size);
}
cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint capacity, cl_device_id* devices,
                      cl_uint* count) {
  long const n = number("STAND_IN_DEVICES", 1);
  (void)platform, (void)type;
  if (n == 0) return CL_DEVICE_NOT_FOUND;
  if (count) *count = (cl_uint)n;
  for (cl_uint i = 0; devices && i < capacity && i < n; ++i) devices[i] = (cl_device_id)&object;
  return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t capacity, void* value, size_t* size) {
  cl_uint word = 0;
  cl_ulong large = 0;
  size_t bytes = 0;
  (void)device;
  switch (what) {
    case CL_DEVICE_NAME:
      return give_text("Stand-In GPU", capacity, value, size);
    case CL_DEVICE_VENDOR:
      return give_text("Stand-In Vendor", capacity, value, size);
    case CL_DRIVER_VERSION:
      return give_text("1.0", capacity, value, size);
    case CL_DEVICE_OPENCL_C_VERSION:
      return give_text("OpenCL C 1.2", capacity, value, size);
    case CL_DEVICE_EXTENSIONS:
      return give_text("cl_khr_fp64", capacity, value, size);
    case CL_DEVICE_TYPE:
      large = CL_DEVICE_TYPE_GPU;
      return give(&large, sizeof large, capacity, value, size);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
      large = (cl_ulong)8 << 30;
      return give(&large, sizeof large, capacity, value, size);
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
      large = 1 << 20;
      return give(&large, sizeof large, capacity, value, size);
    case CL_DEVICE_LOCAL_MEM_SIZE:
      large = 32768;
      return give(&large, sizeof large, capacity, value, size);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
      bytes = 256;
      return give(&bytes, sizeof bytes, capacity, value, size);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
      word = 4;
      break;
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
      word = 1000;
      break;
    case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE:
      word = 64;
      break;
    case CL_DEVICE_LOCAL_MEM_TYPE:
      word = CL_LOCAL;
      break;
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_IMAGE_SUPPORT:
      word = CL_TRUE;
      break;
    default:
      return CL_INVALID_VALUE;
  }
  return give(&word, sizeof word, capacity, value, size);
}

cl_context clCreateContext(cl_context_properties const* properties, cl_uint count, cl_device_id const* devices,
                           void (*notify)(char const*, void const*, size_t, void*), void* data, cl_int* code) {
  (void)properties, (void)count, (void)devices, (void)notify, (void)data;
  *code = (cl_int)number("STAND_IN_CONTEXT", CL_SUCCESS);
  return *code == CL_SUCCESS ? (cl_context)&object : NULL;
}
cl_int clReleaseContext(cl_context context) {
  return (void)context, CL_SUCCESS;
}
cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int* code) {
  (void)context, (void)device, (void)properties;
  return *code = CL_SUCCESS, (cl_command_queue)&object;
}
cl_int clReleaseCommandQueue(cl_command_queue queue) {
  return (void)queue, CL_SUCCESS;
}

static cl_mem allocate(size_t bytes, cl_int* code) {
  void* const memory = (long)bytes > number("STAND_IN_MEMORY", 1l << 40) ? NULL : malloc(bytes);
  *code = memory ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return (cl_mem)memory;
}
cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void* host, cl_int* code) {
  (void)context, (void)flags, (void)host;
  return allocate(bytes, code);
}
cl_mem clCreateImage(cl_context context, cl_mem_flags flags, cl_image_format const* format, cl_image_desc const* shape,
                     void* host, cl_int* code) {
  (void)context, (void)flags, (void)format, (void)host;
  return allocate(16 * shape->image_width * shape->image_height, code);
}
cl_int clReleaseMemObject(cl_mem memory) {
  return free(memory), CL_SUCCESS;
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, char const** texts, size_t const* sizes,
                                     cl_int* code) {
  (void)context, (void)count, (void)texts, (void)sizes;
  return *code = CL_SUCCESS, (cl_program)&object;
}
cl_int clBuildProgram(cl_program program, cl_uint count, cl_device_id const* devices, char const* options,
                      void (*notify)(cl_program, void*), void* data) {
  (void)program, (void)count, (void)devices, (void)options, (void)notify, (void)data;
  return (cl_int)number("STAND_IN_BUILD", CL_SUCCESS);
}
cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t capacity,
                             void* value, size_t* size) {
  (void)program, (void)device, (void)what;
  return give_text("a.cl:1:1: error: unknown type name 'half'\n", capacity, value, size);
}
cl_int clReleaseProgram(cl_program program) {
  return (void)program, CL_SUCCESS;
}
cl_kernel clCreateKernel(cl_program program, char const* name, cl_int* code) {
  (void)program;
  return *code = CL_SUCCESS, (cl_kernel)strdup(name);
}
cl_int clReleaseKernel(cl_kernel kernel) {
  return free(kernel), CL_SUCCESS;
}
cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, void const* value) {
  (void)kernel, (void)index, (void)size, (void)value;
  return CL_SUCCESS;
}

static cl_int lost(void) {
  return is_lost ? CL_DEVICE_NOT_AVAILABLE : CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, size_t const* offset,
                              size_t const* global, size_t const* local, cl_uint waits, cl_event const* events,
                              cl_event* event) {
  char const* const last = getenv("STAND_IN_LOST");
  (void)queue, (void)dimensions, (void)offset, (void)waits, (void)events;
  if (last && strcmp((char const*)kernel, last) == 0) is_lost = 1;
  if (is_lost) return CL_DEVICE_NOT_AVAILABLE;
  ++launches;
  if (local[0] > 256) return CL_INVALID_WORK_GROUP_SIZE;
  /* No two alike, as on a device; a longer run takes longer. */
  elapsed_ns = 1000000 + 100 * global[0] / local[0] + 1000 * (cl_ulong)(launches % 3);
  if (event) *event = (cl_event)&object;
  return CL_SUCCESS;
}
cl_int clFinish(cl_command_queue queue) {
  return (void)queue, lost();
}
cl_int clFlush(cl_command_queue queue) {
  return (void)queue, lost();
}
cl_int clWaitForEvents(cl_uint count, cl_event const* events) {
  return (void)count, (void)events, lost();
}
cl_int clReleaseEvent(cl_event event) {
  return (void)event, CL_SUCCESS;
}
cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t capacity, void* value, size_t* size) {
  cl_ulong const started = 5000;
  cl_ulong const at = what == CL_PROFILING_COMMAND_SUBMIT  ? 0
                      : what == CL_PROFILING_COMMAND_START ? started
                                                           : started + elapsed_ns;
  (void)event;
  return give(&at, sizeof at, capacity, value, size);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool wait, size_t offset, size_t bytes,
                            void const* data, cl_uint waits, cl_event const* events, cl_event* event) {
  (void)queue, (void)wait, (void)waits, (void)events, (void)event;
  return memcpy((char*)memory + offset, data, bytes), lost();
}
cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool wait, size_t offset, size_t bytes, void* data,
                           cl_uint waits, cl_event const* events, cl_event* event) {
  (void)queue, (void)wait, (void)waits, (void)events, (void)event;
  return memcpy(data, (char*)memory + offset, bytes), lost();
}
cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                           size_t bytes, cl_uint waits, cl_event const* events, cl_event* event) {
  (void)queue, (void)waits, (void)events, (void)event;
  return memcpy((char*)to + to_offset, (char*)from + from_offset, bytes), lost();
}
cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem memory, cl_bool wait, size_t const* there,
                                size_t const* here, size_t const* region, size_t row, size_t slice, size_t host_row,
                                size_t host_slice, void const* data, cl_uint waits, cl_event const* events,
                                cl_event* event) {
  (void)queue, (void)wait, (void)there, (void)here, (void)slice, (void)host_slice, (void)waits, (void)events;
  (void)event;
  for (size_t y = 0; y < region[1]; ++y) memcpy((char*)memory + y * row, (char const*)data + y * host_row, region[0]);
  return lost();
}
void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool wait, cl_map_flags flags, size_t offset,
                         size_t bytes, cl_uint waits, cl_event const* events, cl_event* event, cl_int* code) {
  (void)queue, (void)wait, (void)flags, (void)bytes, (void)waits, (void)events, (void)event;
  return *code = lost(), (char*)memory + offset;
}
cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void* mapped, cl_uint waits,
                               cl_event const* events, cl_event* event) {
  (void)queue, (void)memory, (void)mapped, (void)waits, (void)events, (void)event;
  return CL_SUCCESS;
}
