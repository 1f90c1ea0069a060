// Heat that spreads over a field of N x N cells in STEPS steps: heat [N [STEPS]]. A program as users write it, of the tree's
// README and of a tutorial, whose tests run it.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

static char const* source =
    "__kernel void step(__global float const* from, __global float* to, int n) {\n"
    "  int x = get_global_id(0), y = get_global_id(1);\n"
    "  if (x == 0 || y == 0 || x == n - 1 || y == n - 1) return;\n"
    "  int i = y * n + x;\n"
    "  to[i] = from[i] + 0.125f * (from[i - 1] + from[i + 1] + from[i - n] + from[i + n] - 4 * from[i]);\n"
    "}\n";

int main(int count, char** words) {
  cl_int n = count > 1 ? atoi(words[1]) : 2048, steps = count > 2 ? atoi(words[2]) : 20;
  size_t bytes = sizeof(float) * n * n, global[2] = {n, n}, local[2] = {32, 8};
  float* field = calloc(1, bytes);
  field[n / 2 * n + n / 2] = 1000;
  cl_platform_id platform;
  cl_device_id device;
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
  clBuildProgram(program, 1, &device, "", NULL, NULL);
  cl_kernel step = clCreateKernel(program, "step", NULL);
  cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, field, NULL);
  cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, field, NULL);
  for (cl_int k = 0; k < steps; ++k) {
    clSetKernelArg(step, 0, sizeof a, k % 2 ? &b : &a);
    clSetKernelArg(step, 1, sizeof b, k % 2 ? &a : &b);
    clSetKernelArg(step, 2, sizeof n, &n);
    clEnqueueNDRangeKernel(queue, step, 2, NULL, global, local, 0, NULL, NULL);
  }
  clEnqueueReadBuffer(queue, a, CL_TRUE, 0, bytes, field, 0, NULL, NULL);
  printf("in the middle: %.3f\n", field[n / 2 * n + n / 2]);
  return 0;
}
