/* steady SECONDS|FILE KERNELS LAUNCHES [SIGNAL]: an application that launches, every few milliseconds, one of so many
 * kernels, each with sizes of its own, until the time is over, or the file is there or its folder gone, and each was
 * launched so many times at least. Ends with status 3, or by the signal. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void check(cl_int status, char const* what) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", what, status);
  exit(1);
}

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int is_over(char const* end, double start_s) {
  char folder[4096];
  if (!strchr(end, '/')) return now_s() >= start_s + atof(end);
  if (access(end, F_OK) == 0) return 1;
  snprintf(folder, sizeof folder, "%s", end);
  *strrchr(folder, '/') = '\0';
  return access(folder, F_OK) != 0;
}

int main(int argc, char** argv) {
  char const* const end = argc > 1 ? argv[1] : "1";
  int const kernels = argc > 2 ? atoi(argv[2]) : 4, launches = argc > 3 ? atoi(argv[3]) : 3;
  const struct timespec pause = {0, 4000000};
  size_t const most = 64u * 256u;
  double const start = now_s();
  cl_platform_id platform;
  cl_device_id device;
  cl_int status;
  cl_context context;
  cl_command_queue queue;
  cl_mem x;
  float* content;
  double sum = 0;
  int i, round;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
    return 77;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  check(status, "context");
  queue = clCreateCommandQueue(context, device, 0, &status);
  check(status, "queue");
  content = calloc(most, sizeof *content);
  x = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, most * sizeof *content, content, &status);
  check(status, "buffer");
  for (round = 0; round < launches || !is_over(end, start); ++round)
    for (i = 0; i < kernels; ++i) {
      char source[512];
      char const* text = source;
      size_t const global = (size_t)64 * (size_t)(i + 1), local = 64;
      cl_program program;
      cl_kernel kernel;
      if (round >= launches && is_over(end, start)) break;
      snprintf(source, sizeof source,
               "__kernel void step_%d(__global float* x) {\n"
               "  float y = x[get_global_id(0)];\n"
               "  for (int k = 0; k < %d; ++k) y = y * 0.5f + %d;\n"
               "  x[get_global_id(0)] = y;\n}\n",
               i, 16 + i, i + 1);
      program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
      check(status, "program");
      check(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
      snprintf(source, sizeof source, "step_%d", i);
      kernel = clCreateKernel(program, source, &status);
      check(status, "kernel");
      check(clSetKernelArg(kernel, 0, sizeof x, &x), "argument");
      check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), "launch");
      check(clFinish(queue), "finish");
      clReleaseKernel(kernel);
      clReleaseProgram(program);
      nanosleep(&pause, NULL);
    }
  check(clEnqueueReadBuffer(queue, x, CL_TRUE, 0, most * sizeof *content, content, 0, NULL, NULL), "read");
  for (i = 0; i < 64; ++i) sum += content[i];
  printf("sum of the first group %.4f\n", sum);
  free(content);
  fflush(stdout);
  if (argc > 4) raise(atoi(argv[4]));
  return 3;
}
