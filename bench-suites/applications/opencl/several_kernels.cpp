// Two kernels in turn, many launches of the same sizes, profiling events, a barrier, local memory.
#include "app.hpp"

static char const* const source = R"(
__kernel void scale(__global float* x, float factor, int n) {
  int i = get_global_id(0);
  if (i < n) x[i] *= factor;
}
__kernel void sums(__global const float* x, __global float* out, __local float* part) {
  int l = get_local_id(0);
  part[l] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = get_local_size(0) / 2; k > 0; k >>= 1) {
    if (l < k) part[l] += part[l + k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) out[get_group_id(0)] = part[0];
}
)";

int main() {
  App const app(CL_QUEUE_PROFILING_ENABLE);
  int const n = 4096;
  std::vector<float> x(n), out(n / 64);
  for (int i = 0; i < n; ++i) x[i] = 0.25F * static_cast<float>(i % 17);
  cl_program const program = app.build(source);
  cl_kernel const scale = app.kernel(program, "scale"), sums = app.kernel(program, "sums");
  cl_mem const bx = app.buffer(x), bout = app.buffer(out);
  set(scale, 0, bx);
  set(scale, 1, 1.5F);
  set(scale, 2, n);
  set(sums, 0, bx);
  set(sums, 1, bout);
  check(clSetKernelArg(sums, 2, 64 * sizeof(float), nullptr), "local");
  std::size_t const global = n, local = 64;
  int profiled = 0;
  for (int step = 0; step < 5; ++step) {
    cl_event event = nullptr;
    check(clEnqueueNDRangeKernel(app.queue, scale, 1, nullptr, &global, &local, 0, nullptr, &event), "scale");
    check(clEnqueueNDRangeKernel(app.queue, sums, 1, nullptr, &global, &local, 0, nullptr, nullptr), "sums");
    check(clFinish(app.queue), "clFinish");
    cl_ulong start = 0, end = 0;
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr);
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
    profiled += end >= start && start > 0;
    clReleaseEvent(event);
  }
  std::size_t const half = n / 2;
  check(clEnqueueNDRangeKernel(app.queue, scale, 1, nullptr, &half, &local, 0, nullptr, nullptr), "scale");
  app.read(bout, out);
  app.read(bx, x);
  print("x", x);
  print("sums", out);
  std::printf("profiled %d\n", profiled);
  std::vector<float> want(n);
  for (int i = 0; i < n; ++i)
    want[static_cast<std::size_t>(i)] =
        0.25F * static_cast<float>(i % 17) * static_cast<float>(std::pow(1.5, i < n / 2 ? 6 : 5));
  int const wrong = compare("x", x, want, 1e-6);
  clReleaseMemObject(bx);
  clReleaseMemObject(bout);
  clReleaseKernel(scale);
  clReleaseKernel(sums);
  clReleaseProgram(program);
  clReleaseCommandQueue(app.queue);
  clReleaseContext(app.context);
  return wrong;
}
