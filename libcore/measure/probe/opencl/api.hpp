// OpenCL by dlopen: the program runs, and says so, where there is no OpenCL.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

namespace kernelcast::probe::opencl {

#define KERNELCAST_OPENCL_FUNCTIONS(X) \
  X(clGetPlatformIDs)                  \
  X(clGetPlatformInfo)                 \
  X(clGetDeviceIDs)                    \
  X(clGetDeviceInfo)                   \
  X(clCreateContext)                   \
  X(clReleaseContext)                  \
  X(clCreateCommandQueue)              \
  X(clReleaseCommandQueue)             \
  X(clCreateBuffer)                    \
  X(clReleaseMemObject)                \
  X(clCreateProgramWithSource)         \
  X(clBuildProgram)                    \
  X(clGetProgramBuildInfo)             \
  X(clReleaseProgram)                  \
  X(clCreateKernel)                    \
  X(clReleaseKernel)                   \
  X(clSetKernelArg)                    \
  X(clEnqueueNDRangeKernel)            \
  X(clFinish)                          \
  X(clFlush)                           \
  X(clWaitForEvents)                   \
  X(clGetEventProfilingInfo)           \
  X(clReleaseEvent)                    \
  X(clEnqueueWriteBuffer)              \
  X(clEnqueueReadBuffer)               \
  X(clEnqueueCopyBuffer) X(clEnqueueWriteBufferRect) X(clEnqueueMapBuffer) X(clEnqueueUnmapMemObject) X(clCreateImage)

struct Api {
#define KERNELCAST_DECLARE(name) decltype(&::name) name = nullptr;
  KERNELCAST_OPENCL_FUNCTIONS(KERNELCAST_DECLARE)
#undef KERNELCAST_DECLARE
  std::string missing;  // why it cannot be used; empty when all functions are there
};
Api const& api();

}  // namespace kernelcast::probe::opencl
