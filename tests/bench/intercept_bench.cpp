// What the OpenCL layer adds to calls of an application: the layer over an OpenCL that does nothing.
// Goals: a launch whose configuration was seen costs less than 2 µs, one that is new less than 5 ms, reading its
// buffers back included (bench-suites/applications/overhead.cpp).
#include <CL/cl_layer.h>
#include <dlfcn.h>

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "base/process/process.hpp"

namespace {

using kernelcast::TemporaryFolder;

int object;  // whose address stands for every handle
template <class T>
T handle() {
  return reinterpret_cast<T>(&object);
}

cl_program CL_API_CALL create_program(cl_context, cl_uint, char const**, std::size_t const*, cl_int* status) {
  if (status) *status = CL_SUCCESS;
  return handle<cl_program>();
}
cl_kernel CL_API_CALL create_kernel(cl_program, char const*, cl_int*) {
  return handle<cl_kernel>();
}
cl_int CL_API_CALL kernel_info(cl_kernel, cl_kernel_info what, std::size_t, void* value, std::size_t*) {
  cl_uint const arguments = 2;
  if (what == CL_KERNEL_NUM_ARGS)
    std::memcpy(value, &arguments, sizeof arguments);
  else
    std::strcpy(static_cast<char*>(value), "kernel");
  return CL_SUCCESS;
}
cl_int CL_API_CALL set_argument(cl_kernel, cl_uint, std::size_t, void const*) {
  return CL_SUCCESS;
}
cl_int CL_API_CALL enqueue(cl_command_queue, cl_kernel, cl_uint, std::size_t const*, std::size_t const*,
                           std::size_t const*, cl_uint, cl_event const*, cl_event*) {
  return CL_SUCCESS;
}
cl_int CL_API_CALL flush(cl_command_queue) {
  return CL_SUCCESS;
}

// The layer's functions over those above.
cl_icd_dispatch const& layer() {
  static cl_icd_dispatch const* const made = [] {
    static cl_icd_dispatch nothing{};
    nothing.clCreateProgramWithSource = create_program;
    nothing.clCreateKernel = create_kernel;
    nothing.clGetKernelInfo = kernel_info;
    nothing.clSetKernelArg = set_argument;
    nothing.clEnqueueNDRangeKernel = enqueue;
    nothing.clFlush = flush;
    static TemporaryFolder const spool;
    setenv("KERNELCAST_SPOOL", spool.path().c_str(), 1);
    void* const library = dlopen(KERNELCAST_LAYER, RTLD_NOW);
    auto const init = library ? reinterpret_cast<pfn_clInitLayer>(dlsym(library, "clInitLayer")) : nullptr;
    cl_uint count = 0;
    cl_icd_dispatch const* dispatch = nullptr;
    if (!init || init(sizeof nothing / sizeof(void*), &nothing, &count, &dispatch) != CL_SUCCESS)
      throw std::runtime_error("cannot load " KERNELCAST_LAYER);
    char const* source = "kernel";
    auto const program = dispatch->clCreateProgramWithSource(nullptr, 1, &source, nullptr, nullptr);
    dispatch->clCreateKernel(program, "kernel", nullptr);
    return dispatch;
  }();
  return *made;
}

// The last of as many configurations as the argument says.
void launch_seen(benchmark::State& state) {
  auto const& cl = layer();
  std::size_t global[] = {16, 32}, local[] = {16, 16};
  auto const kernel = handle<cl_kernel>();
  int const value = 7;
  cl.clSetKernelArg(kernel, 0, sizeof value, &value);
  cl.clSetKernelArg(kernel, 1, sizeof value, &value);
  for (int i = 1; i < state.range(0); ++i) {
    cl.clEnqueueNDRangeKernel(nullptr, kernel, 2, nullptr, global, local, 0, nullptr, nullptr);
    global[0] += 16;
  }
  for (auto _ : state)
    benchmark::DoNotOptimize(
        cl.clEnqueueNDRangeKernel(nullptr, kernel, 2, nullptr, global, local, 0, nullptr, nullptr));
}
BENCHMARK(launch_seen)->Arg(1)->Arg(100)->Arg(10000);

// Sizes that are new: a launch file is written.
void launch_new(benchmark::State& state) {
  auto const& cl = layer();
  static std::size_t global[] = {1 << 20, 16};
  std::size_t const local[] = {16, 16};
  int const value = 7;
  cl.clSetKernelArg(handle<cl_kernel>(), 0, sizeof value, &value);
  cl.clSetKernelArg(handle<cl_kernel>(), 1, sizeof value, &value);
  for (auto _ : state) {
    global[0] += 16;
    benchmark::DoNotOptimize(
        cl.clEnqueueNDRangeKernel(nullptr, handle<cl_kernel>(), 2, nullptr, global, local, 0, nullptr, nullptr));
  }
}
BENCHMARK(launch_new)->Iterations(5000);

void set_an_argument(benchmark::State& state) {
  auto const& cl = layer();
  int value = 0;
  for (auto _ : state) benchmark::DoNotOptimize(cl.clSetKernelArg(handle<cl_kernel>(), 1, sizeof value, &++value));
}
BENCHMARK(set_an_argument);

}  // namespace
