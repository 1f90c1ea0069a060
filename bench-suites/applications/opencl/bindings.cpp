// The C++ bindings: parts of a buffer, a buffer that the host may not read, a buffer given twice.
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>

#include <cstdio>
#include <numeric>

int main() try {
  cl::Context const context(CL_DEVICE_TYPE_ALL);
  cl::CommandQueue queue(context);
  cl::Program const program(context,
                            "__kernel void add(__global const int* a, __global const int* b, __global int* c) {"
                            "  int i = get_global_id(0); c[i] = a[i] + b[i]; }",
                            true);
  std::vector<int> host(1024);
  std::iota(host.begin(), host.end(), 0);
  cl::Buffer whole(context, host.begin(), host.end(), false);
  cl_buffer_region const upper{2048, 2048};
  cl::Buffer const part = whole.createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &upper);
  cl::Buffer const hidden(context, CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS, 2048);
  cl::KernelFunctor<cl::Buffer, cl::Buffer, cl::Buffer> add(program, "add");
  add(cl::EnqueueArgs(queue, cl::NDRange(512), cl::NDRange(64)), whole, part, hidden);
  add(cl::EnqueueArgs(queue, cl::NDRange(256), cl::NDRange(64)), hidden, hidden, whole);
  queue.finish();
  cl::copy(queue, whole, host.begin(), host.end());
  std::printf("%d %d %d\n", host[0], host[255], std::accumulate(host.begin(), host.end(), 0));
  bool right = true;
  for (int i = 0; i < 1024; ++i)
    right = right && host[static_cast<std::size_t>(i)] == (i < 256 ? 2 * (2 * i + 512) : i);
  std::printf(right ? "sums are right\n" : "sums are wrong\n");
  return right ? 0 : 1;
} catch (cl::Error const& error) {
  if (error.err() == -1001 || error.err() == CL_DEVICE_NOT_FOUND) return 77;
  std::printf("%s: %d\n", error.what(), error.err());
  return 9;
}
