/* devices MODE UNTIL: an application with all devices of the first platform in one context ("parts": the parts of
 * the first one that has several compute units). It launches on the first of them and checks what comes of it, over and
 * over. Ends with 0 where all is as it would be on one device, 77 where there are no two.
 *
 * UNTIL says how often; it takes as long as the machine needs.
 *   once      the launches of the mode, once
 *   decided   until it is decided where each of them goes, and once more
 *   steered   until each of them went elsewhere, and once more; it gives up after 200 rounds that were decided
 *
 *   in_order      kernels one after the other, fills and blocking reads between them
 *   out_of_order  a chain by events, user events, launches that wait for nothing, barriers
 *   events        what an event says of its kernel, callbacks, queues with and without profiling
 *   threads       four threads with one queue: what they share, and what is each one's own
 *   one_built     a program that is built for the first device alone
 *   one_device    a context of one device
 *   parts         in_order, on parts of a device */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { items = 1024, max_devices = 8 };

static char const source[] =
    "__kernel void twice(__global int* x) { x[get_global_id(0)] = x[get_global_id(0)] * 2 + 1; }\n"
    "__kernel void halve(__global int* x) { x[get_global_id(0)] = (x[get_global_id(0)] - 1) / 2; }\n"
    "__kernel void add(__global int* x, int n, __local int* y) {\n"
    "  y[get_local_id(0)] = x[get_global_id(0)];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (int i = 0; i < 64; ++i) x[get_global_id(0)] = y[get_local_id(0)] + n;\n}\n";

static cl_device_id devices[max_devices];
static cl_uint device_count;
static cl_context context;
static cl_program program;
static char const* until = "once";

static void check_at(int line, int holds, char const* text) {
  if (holds) return;
  fprintf(stderr, "devices.c:%d: %s\n", line, text);
  exit(1);
}
#define CHECK(condition) check_at(__LINE__, (condition), #condition)
#define DO(call) check_at(__LINE__, (call) == CL_SUCCESS, #call)

/* What the layer and the program share about the launches of this process: see runtimes/attach/spool.hpp and
 * runtimes/attach/opencl/decisions.hpp. */
enum { max_launches = 64 };
struct decision {
  uint64_t ranks, steered, rest[2];
};

static int shared_file(char const* kind, void* content, size_t bytes) {
  char path[4096];
  char const* const folder = getenv("KERNELCAST_SPOOL");
  int file;
  ssize_t got;
  snprintf(path, sizeof path, "%s/%s-%d", folder ? folder : "", kind, (int)getpid());
  file = open(path, O_RDONLY);
  if (file == -1) return 0;
  got = read(file, content, bytes);
  close(file);
  return got == (ssize_t)bytes;
}

/* Whether all that was launched so far is decided, or went elsewhere. */
static int all_are(int steered) {
  uint64_t counts[max_launches];
  struct decision decisions[max_launches];
  int i;
  if (!shared_file("counts", counts, sizeof counts) || !shared_file("steering", decisions, sizeof decisions)) return 0;
  for (i = 0; i < max_launches; ++i)
    if (counts[i] > 0 && (steered ? decisions[i].steered : decisions[i].ranks) == 0) return 0;
  return 1;
}

/* After a round of launches. */
static int go_on(void) {
  static atomic_int last, decided;
  const struct timespec pause = {0, 2000000};
  if (strcmp(until, "once") == 0 || last) return 0;
  nanosleep(&pause, NULL);
  if (strcmp(until, "decided") == 0 ? all_are(0) : all_are(1) || (all_are(0) && ++decided >= 200)) last = 1;
  return 1;
}

static cl_mem buffer_of_zeros(void) {
  int const zeros[items] = {0};
  cl_int status;
  cl_mem const buffer =
      clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zeros, (void*)zeros, &status);
  DO(status);
  return buffer;
}

static cl_kernel kernel_on(char const* name, cl_mem buffer) {
  cl_int status;
  cl_kernel const kernel = clCreateKernel(program, name, &status);
  DO(status);
  DO(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
  return kernel;
}

static cl_kernel add_on(cl_mem buffer, int n) {
  cl_kernel const kernel = kernel_on("add", buffer);
  DO(clSetKernelArg(kernel, 1, sizeof n, &n));
  DO(clSetKernelArg(kernel, 2, 64 * sizeof(int), NULL));
  return kernel;
}

static void launch(cl_command_queue queue, cl_kernel kernel, cl_uint waits, cl_event const* wait_list,
                   cl_event* event) {
  size_t const global = items, local = 64;
  DO(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, waits, wait_list, event));
}

static cl_command_queue queue_with(cl_command_queue_properties properties) {
  cl_int status;
  cl_command_queue const queue = clCreateCommandQueue(context, devices[0], properties, &status);
  DO(status);
  return queue;
}

static void holds(cl_command_queue queue, cl_mem buffer, int expected) {
  int content[items], i;
  DO(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof content, content, 0, NULL, NULL));
  for (i = 0; i < items; ++i)
    if (content[i] != expected) {
      fprintf(stderr, "item %d is %d, not %d\n", i, content[i], expected);
      exit(1);
    }
}

static void in_order(void) {
  cl_command_queue const queue = queue_with(0), other = queue_with(0);
  cl_mem const x = buffer_of_zeros(), y = buffer_of_zeros();
  cl_kernel const twice = kernel_on("twice", x), halve = kernel_on("halve", x), add = add_on(y, 5);
  do {
    int const seven = 7;
    launch(queue, twice, 0, NULL, NULL);
    launch(queue, twice, 0, NULL, NULL);
    launch(queue, halve, 0, NULL, NULL);
    holds(queue, x, 1);
    DO(clEnqueueFillBuffer(queue, x, &seven, sizeof seven, 0, items * sizeof(int), 0, NULL, NULL));
    launch(queue, halve, 0, NULL, NULL);
    DO(clEnqueueCopyBuffer(queue, x, y, 0, 0, items * sizeof(int), 0, NULL, NULL));
    launch(queue, add, 0, NULL, NULL);
    DO(clFinish(queue));
    holds(other, y, 8); /* finished: another queue sees it */
    launch(queue, halve, 0, NULL, NULL);
    launch(queue, halve, 0, NULL, NULL);
    holds(queue, x, 0);
  } while (go_on());
  clReleaseKernel(twice);
  clReleaseKernel(halve);
  clReleaseKernel(add);
  clReleaseMemObject(x);
  clReleaseMemObject(y);
  DO(clRetainCommandQueue(queue));
  DO(clReleaseCommandQueue(queue));
  DO(clReleaseCommandQueue(queue));
  DO(clReleaseCommandQueue(other));
}

static void out_of_order(void) {
  cl_command_queue const queue = queue_with(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_mem const x = buffer_of_zeros(), y = buffer_of_zeros();
  cl_kernel const twice = kernel_on("twice", x), halve = kernel_on("halve", x), add = add_on(y, 3);
  int expected = 0;
  do {
    cl_int status;
    cl_event gate = clCreateUserEvent(context, &status), first, second, apart;
    DO(status);
    /* The chain waits for the gate, which opens when what waits for nothing has ended: no thread may wait for all that
     * was enqueued before. */
    launch(queue, twice, 1, &gate, &first);
    launch(queue, add, 0, NULL, &apart);
    launch(queue, halve, 1, &first, &second);
    DO(clWaitForEvents(1, &apart));
    DO(clGetEventInfo(first, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    CHECK(status != CL_COMPLETE);
    DO(clSetUserEventStatus(gate, CL_COMPLETE));
    /* After a barrier everything is done. */
    DO(clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL));
    launch(queue, twice, 0, NULL, NULL);
    DO(clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL));
    launch(queue, halve, 0, NULL, NULL);
    DO(clFinish(queue));
    expected += 3;
    holds(queue, x, 0);
    holds(queue, y, expected);
    clReleaseEvent(gate);
    clReleaseEvent(first);
    clReleaseEvent(second);
    clReleaseEvent(apart);
  } while (go_on());
}

static int volatile called;
static void CL_CALLBACK on_end(cl_event event, cl_int status, void* user) {
  (void)event;
  (void)user;
  if (status == CL_COMPLETE) called = 1;
}

static void events(void) {
  cl_command_queue const timed = queue_with(CL_QUEUE_PROFILING_ENABLE), plain = queue_with(0);
  cl_mem const x = buffer_of_zeros();
  cl_kernel const twice = kernel_on("twice", x), halve = kernel_on("halve", x);
  do {
    cl_event event, untimed;
    cl_command_queue queue;
    cl_command_type type;
    cl_context in;
    cl_int status;
    cl_ulong queued, submitted, start, end;
    launch(timed, twice, 0, NULL, &event);
    called = 0;
    DO(clSetEventCallback(event, CL_COMPLETE, on_end, NULL));
    DO(clWaitForEvents(1, &event));
    while (!called) {
      const struct timespec pause = {0, 1000000};
      nanosleep(&pause, NULL);
    }
    DO(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL));
    CHECK(queue == timed);
    DO(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    CHECK(type == CL_COMMAND_NDRANGE_KERNEL);
    DO(clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof in, &in, NULL));
    CHECK(in == context);
    DO(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    CHECK(status == CL_COMPLETE);
    DO(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED, sizeof queued, &queued, NULL));
    DO(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_SUBMIT, sizeof submitted, &submitted, NULL));
    DO(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
    DO(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
    CHECK(queued <= submitted && submitted <= start && start <= end && end > 0);
    launch(plain, halve, 1, &event, &untimed);
    DO(clFinish(plain));
    CHECK(clGetEventProfilingInfo(untimed, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) ==
          CL_PROFILING_INFO_NOT_AVAILABLE);
    DO(clGetEventInfo(untimed, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL));
    CHECK(queue == plain);
    holds(plain, x, 0);
    clReleaseEvent(event);
    clReleaseEvent(untimed);
  } while (go_on());
}

static struct {
  cl_command_queue queue;
  cl_mem together;
} shared;
enum { thread_count = 4, min_rounds = 60 };
static atomic_int rounds_of_all;

/* The kernel of what they share is not atomic: in an in-order queue it need not be. */
static void* add_and_read(void* own) {
  cl_mem const mine = buffer_of_zeros();
  cl_kernel const to_mine = add_on(mine, 1), to_all = add_on(shared.together, 1);
  int round, more = 1;
  for (round = 1; round <= min_rounds || more; ++round) {
    launch(shared.queue, to_mine, 0, NULL, NULL);
    launch(shared.queue, to_all, 0, NULL, NULL);
    holds(shared.queue, mine, round);
    more = go_on();
    ++rounds_of_all;
  }
  return own;
}

static void threads(void) {
  pthread_t running[thread_count];
  int i;
  shared.queue = queue_with(0);
  shared.together = buffer_of_zeros();
  for (i = 0; i < thread_count; ++i) CHECK(pthread_create(&running[i], NULL, add_and_read, NULL) == 0);
  for (i = 0; i < thread_count; ++i) CHECK(pthread_join(running[i], NULL) == 0);
  holds(shared.queue, shared.together, rounds_of_all);
}

static void find_parts(void) {
  cl_device_partition_property const equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  cl_uint i;
  for (i = 0; i < device_count; ++i) {
    cl_uint units = 0;
    clGetDeviceInfo(devices[i], CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    if (units < 2) continue;
    if (units > max_devices) {
      cl_device_partition_property const some[] = {CL_DEVICE_PARTITION_EQUALLY, units / 2, 0};
      if (clCreateSubDevices(devices[i], some, max_devices, devices, &device_count) == CL_SUCCESS) return;
    } else if (clCreateSubDevices(devices[i], equally, max_devices, devices, &device_count) == CL_SUCCESS) {
      return;
    }
  }
  device_count = 0;
}

int main(int argc, char** argv) {
  char const* const mode = argc > 1 ? argv[1] : "in_order";
  char const* text = source;
  cl_platform_id platform;
  cl_int status;
  if (argc > 2) until = argv[2];
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, max_devices, devices, &device_count) != CL_SUCCESS)
    return 77;
  if (device_count > max_devices) device_count = max_devices;
  if (strcmp(mode, "parts") == 0) find_parts();
  if (strcmp(mode, "one_device") == 0)
    device_count = 1;
  else if (device_count < 2)
    return 77;
  context = clCreateContext(NULL, device_count, devices, NULL, NULL, &status);
  DO(status);
  program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
  DO(status);
  DO(strcmp(mode, "one_built") == 0 ? clBuildProgram(program, 1, devices, "", NULL, NULL)
                                    : clBuildProgram(program, 0, NULL, "", NULL, NULL));
  if (strcmp(mode, "out_of_order") == 0)
    out_of_order();
  else if (strcmp(mode, "events") == 0)
    events();
  else if (strcmp(mode, "threads") == 0)
    threads();
  else
    in_order();
  clReleaseProgram(program);
  clReleaseContext(context);
  puts("as on one device");
  return 0;
}
