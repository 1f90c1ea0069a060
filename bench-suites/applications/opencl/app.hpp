// What the applications share: a device, a queue, ending with words when a call fails, and comparing what the device
// has computed with what the host computes.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#endif
#include <CL/cl.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void check(cl_int status, char const* what) {
  if (status == CL_SUCCESS) return;
  std::printf("%s: %d\n", what, status);
  std::exit(9);
}

struct App {
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;

  explicit App(cl_command_queue_properties properties = 0) {
    cl_platform_id platform = nullptr;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
      std::printf("no OpenCL device\n");
      std::exit(77);
    }
    cl_int status = 0;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    check(status, "clCreateContext");
    queue = another_queue(properties);
  }
  cl_command_queue another_queue(cl_command_queue_properties properties = 0) const {
    cl_int status = 0;
    cl_command_queue const made = clCreateCommandQueue(context, device, properties, &status);
    check(status, "clCreateCommandQueue");
    return made;
  }

  cl_program build(char const* source, char const* options = "") const {
    cl_int status = 0;
    cl_program const program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
    check(status, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, options, nullptr, nullptr), "clBuildProgram");
    return program;
  }
  cl_kernel kernel(cl_program program, char const* name) const {
    cl_int status = 0;
    cl_kernel const made = clCreateKernel(program, name, &status);
    check(status, name);
    return made;
  }
  template <class T>
  cl_mem buffer(std::vector<T> const& content, cl_mem_flags flags = CL_MEM_READ_WRITE) const {
    cl_int status = 0;
    cl_mem const made = clCreateBuffer(context, flags | CL_MEM_COPY_HOST_PTR, content.size() * sizeof(T),
                                       const_cast<T*>(content.data()), &status);
    check(status, "clCreateBuffer");
    return made;
  }
  template <class T>
  void read(cl_mem from, std::vector<T>& to) const {
    check(clEnqueueReadBuffer(queue, from, CL_TRUE, 0, to.size() * sizeof(T), to.data(), 0, nullptr, nullptr), "read");
  }
  cl_mem room(std::size_t bytes, cl_mem_flags flags = CL_MEM_READ_WRITE) const {
    cl_int status = 0;
    cl_mem const made = clCreateBuffer(context, flags, bytes, nullptr, &status);
    check(status, "clCreateBuffer");
    return made;
  }
  void launch(cl_kernel kernel, std::vector<std::size_t> const& global,
              std::vector<std::size_t> const& local = {}) const {
    check(clEnqueueNDRangeKernel(queue, kernel, static_cast<cl_uint>(global.size()), nullptr, global.data(),
                                 local.empty() ? nullptr : local.data(), 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  }
};

template <class T>
void set(cl_kernel kernel, cl_uint index, T const& value) {
  check(clSetKernelArg(kernel, index, sizeof value, &value), "clSetKernelArg");
}

template <class T>
void print(char const* name, std::vector<T> const& values) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    sum += static_cast<double>(values[i]) * static_cast<double>(i % 7 + 1);
  std::printf("%s %.6g\n", name, sum);
}

// Says whether the values are the expected ones; 1, for the application's exit status, where they are not.
template <class T>
int compare(char const* name, std::vector<T> const& have, std::vector<T> const& want, double tolerance = 0) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    double const a = static_cast<double>(have[i]), b = static_cast<double>(want[i]);
    if (std::abs(a - b) <= tolerance * std::fmax(1, std::abs(b))) continue;
    std::printf("%s is wrong: [%zu] = %.9g, not %.9g\n", name, i, a, b);
    return 1;
  }
  std::printf("%s is right\n", name);
  return 0;
}
