// The C++ bindings with functors, exceptions and events: matrix products of several sizes through local memory, and a
// transposition of the last one.
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

static std::string const source = R"(
__kernel void multiply(__global const float* a, __global const float* b, __global float* c, int n) {
  __local float as[TILE][TILE], bs[TILE][TILE];
  int x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int t = 0; t < n; t += TILE) {
    as[y][x] = a[row * n + t + x];
    bs[y][x] = b[(t + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) sum += as[y][k] * bs[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
__kernel void transpose(__global const float4* in, __global float* out, int n) {
  int column = get_global_id(0), row = get_global_id(1);
  float4 v = in[row * (n / 4) + column];
  out[(4 * column + 0) * n + row] = v.x;
  out[(4 * column + 1) * n + row] = v.y;
  out[(4 * column + 2) * n + row] = v.z;
  out[(4 * column + 3) * n + row] = v.w;
}
)";

int main() try {
  cl::Device const device = cl::Device::getDefault();
  cl::Context const context(device);
  cl::CommandQueue queue(context, device, CL_QUEUE_PROFILING_ENABLE);
  cl::Program const program(context, source);
  program.build(std::vector{device}, "-DTILE=8 -cl-std=CL1.2");
  cl::KernelFunctor<cl::Buffer, cl::Buffer, cl::Buffer, int> multiply(program, "multiply");
  cl::KernelFunctor<cl::Buffer, cl::Buffer, int> transpose(program, "transpose");
  bool right = true;
  for (int const n : {16, 32, 64}) {
    auto const size = static_cast<std::size_t>(n);
    std::vector<float> a(size * size), b(size * size), c(size * size);
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<float>(i % 13) / 4;
      b[i] = static_cast<float>(i % 11) / 8;
    }
    cl::Buffer const ba(context, a.begin(), a.end(), true), bb(context, b.begin(), b.end(), true);
    cl::Buffer const bc(context, CL_MEM_READ_WRITE, c.size() * sizeof(float)),
        bt(context, CL_MEM_WRITE_ONLY, c.size() * sizeof(float));
    cl::Event const multiplied =
        multiply(cl::EnqueueArgs(queue, cl::NDRange(size, size), cl::NDRange(8, 8)), ba, bb, bc, n);
    cl::Event const done =
        transpose(cl::EnqueueArgs(queue, multiplied, cl::NDRange(size / 4, size), cl::NDRange(4, 16)), bc, bt, n);
    done.wait();
    right = right && multiplied.getProfilingInfo<CL_PROFILING_COMMAND_END>() <=
                         done.getProfilingInfo<CL_PROFILING_COMMAND_END>();
    queue.enqueueReadBuffer(bt, CL_TRUE, 0, c.size() * sizeof(float), c.data());
    double sum = 0;
    for (std::size_t row = 0; row < size; ++row)
      for (std::size_t column = 0; column < size; ++column) {
        double want = 0;
        for (std::size_t k = 0; k < size; ++k)
          want += static_cast<double>(a[row * size + k]) * static_cast<double>(b[k * size + column]);
        double const have = static_cast<double>(c[column * size + row]);
        right = right && std::abs(have - want) <= 1e-5 * want;
        sum += have;
      }
    std::printf("%d: %.6g\n", n, sum);
  }
  std::printf(right ? "products are right\n" : "products are wrong\n");
  return right ? 0 : 1;
} catch (cl::Error const& error) {
  if (error.err() == -1001 || error.err() == CL_DEVICE_NOT_FOUND) return 77;
  std::printf("%s: %d\n", error.what(), error.err());
  return 9;
}
