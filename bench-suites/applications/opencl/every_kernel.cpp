// All kernels of a program at once: required work-group sizes, one work-item, arguments that are set anew between
// launches, null pointers, doubles and long vectors.
#include "app.hpp"

#include <string>

static char const* const source = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel __attribute__((reqd_work_group_size(8, 8, 1))) void corners(__global uint* out) {
  if (get_local_id(0) == 0 && get_local_id(1) == 0)
    out[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = get_group_id(0) * 100 + get_group_id(1);
}
__kernel void maybe(__global const int* x, __global int* out) { int i = get_global_id(0); out[i] = x ? x[i] : -1; }
__kernel void mean(__global const double* x, __global double* out, double16 weights, uint n) {
  double w[16];
  vstore16(weights, 0, w);
  double sum = 0;
  for (uint i = 0; i < n; ++i) sum += x[i] * w[i % 16];
  out[0] = sum / n;
}
)";

int main() {
  App const app;
  cl_program const program = app.build(source);
  cl_uint count = 0;
  check(clCreateKernelsInProgram(program, 0, nullptr, &count), "clCreateKernelsInProgram");
  std::vector<cl_kernel> kernels(count);
  check(clCreateKernelsInProgram(program, count, kernels.data(), nullptr), "clCreateKernelsInProgram");
  auto const named = [&](std::string const& wanted) {
    for (cl_kernel const kernel : kernels) {
      char name[64] = "";
      check(clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, nullptr), "clGetKernelInfo");
      if (wanted == name) return kernel;
    }
    std::exit(9);
  };
  std::printf("%u kernels\n", count);

  std::vector<cl_uint> corners(12), want_corners(12);
  cl_mem const bcorners = app.room(12 * sizeof(cl_uint));
  set(named("corners"), 0, bcorners);
  app.launch(named("corners"), {32, 24}, {8, 8});
  app.read(bcorners, corners);
  for (cl_uint i = 0; i < 12; ++i) want_corners[i] = i % 4 * 100 + i / 4;

  std::vector<int> x(96), first(96), second(96);
  for (int i = 0; i < 96; ++i) x[static_cast<std::size_t>(i)] = 3 * i;
  cl_mem const bx = app.buffer(x), bout = app.room(96 * sizeof(int));
  set(named("maybe"), 0, bx);
  set(named("maybe"), 1, bout);
  app.launch(named("maybe"), {96});
  app.read(bout, first);
  check(clSetKernelArg(named("maybe"), 0, sizeof(cl_mem), nullptr), "a null buffer");
  app.launch(named("maybe"), {24});
  cl_mem const none = nullptr;
  set(named("maybe"), 0, none);
  app.launch(named("maybe"), {48});
  app.read(bout, second);

  std::vector<double> numbers(160), mean(1);
  cl_double16 weights{};
  double want_mean = 0;
  for (std::size_t i = 0; i < 16; ++i) weights.s[i] = 0.125 * static_cast<double>(i);
  for (std::size_t i = 0; i < 160; ++i) {
    numbers[i] = static_cast<double>(i);
    want_mean += numbers[i] * weights.s[i % 16] / 160;
  }
  cl_mem const bnumbers = app.buffer(numbers), bmean = app.room(sizeof(double));
  set(named("mean"), 0, bnumbers);
  set(named("mean"), 1, bmean);
  set(named("mean"), 2, weights);
  set(named("mean"), 3, cl_uint{160});
  check(clEnqueueTask(app.queue, named("mean"), 0, nullptr, nullptr), "clEnqueueTask");
  app.read(bmean, mean);

  std::vector<int> want_second = x;
  for (std::size_t i = 0; i < 48; ++i) want_second[i] = -1;
  print("corners", corners);
  int const wrong = compare("corners", corners, want_corners) + compare("first", first, x) +
                    compare("second", second, want_second) + compare("mean", mean, std::vector{want_mean}, 1e-12);
  for (cl_kernel const kernel : kernels) clReleaseKernel(kernel);
  return wrong != 0;
}
