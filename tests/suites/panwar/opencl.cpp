#include "opencl.hpp"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <map>
#include <memory>
#include <stdexcept>

namespace kernelcast::suites {
namespace {

void check(cl_int status, char const* call) {
  if (status != CL_SUCCESS) throw std::runtime_error(fmt::format("{} failed with OpenCL error {}", call, status));
}

template <class Object, cl_int (*Release)(Object)>
struct Releaser {
  using pointer = Object;
  void operator()(Object object) const { Release(object); }
};
template <class Object, cl_int (*Release)(Object)>
using Owned = std::unique_ptr<Object, Releaser<Object, Release>>;

using Context = Owned<cl_context, clReleaseContext>;
using Queue = Owned<cl_command_queue, clReleaseCommandQueue>;
using Program = Owned<cl_program, clReleaseProgram>;
using Kernel = Owned<cl_kernel, clReleaseKernel>;
using Buffer = Owned<cl_mem, clReleaseMemObject>;

std::optional<cl_device_id> first_device() {
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return std::nullopt;
  std::vector<cl_platform_id> platforms(count);
  check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  for (cl_platform_id const platform : platforms) {
    cl_device_id device = nullptr;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS) return device;
  }
  return std::nullopt;
}

std::string name_of(cl_device_id device) {
  std::size_t length = 0;
  check(clGetDeviceInfo(device, CL_DEVICE_NAME, 0, nullptr, &length), "clGetDeviceInfo");
  std::string name(length, '\0');
  check(clGetDeviceInfo(device, CL_DEVICE_NAME, length, name.data(), nullptr), "clGetDeviceInfo");
  name.resize(name.find('\0'));
  return name;
}

double processor_time_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto const seconds = [](timeval const& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Program build(cl_context context, cl_device_id device, std::string const& source, std::string const& options) {
  cl_int status = 0;
  char const* text = source.c_str();
  Program program(clCreateProgramWithSource(context, 1, &text, nullptr, &status));
  check(status, "clCreateProgramWithSource");
  if (clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr) == CL_SUCCESS) return program;
  std::string log(1 << 16, '\0');
  clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr);
  throw std::runtime_error("clBuildProgram failed:\n" + log.substr(0, log.find('\0')));
}

Buffer make_image(cl_context context, ImageOf const& image, std::vector<std::byte>& texels) {
  if (texels.size() != image.width * image.height * 4 * sizeof(float))
    throw std::runtime_error("an image of another size than buffer " + image.buffer);
  cl_image_format const format{CL_RGBA, CL_FLOAT};
  cl_image_desc shape{};
  shape.image_type = CL_MEM_OBJECT_IMAGE2D;
  shape.image_width = image.width;
  shape.image_height = image.height;
  cl_int status = 0;
  Buffer object(
      clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &shape, texels.data(), &status));
  check(status, "clCreateImage");
  return object;
}

void set_argument(cl_kernel kernel, cl_uint index, OpenClArgument const& argument,
                  std::map<std::string, Buffer, std::less<>> const& memory,
                  std::map<std::string, Buffer, std::less<>> const& images) {
  if (auto const* local = std::get_if<LocalBytes>(&argument))
    return check(clSetKernelArg(kernel, index, local->bytes, nullptr), "clSetKernelArg");
  if (auto const* buffer = std::get_if<BufferName>(&argument)) {
    cl_mem const object = memory.at(buffer->name).get();
    return check(clSetKernelArg(kernel, index, sizeof object, &object), "clSetKernelArg");
  }
  if (auto const* image = std::get_if<ImageOf>(&argument)) {
    cl_mem const object = images.at(image->buffer).get();
    return check(clSetKernelArg(kernel, index, sizeof object, &object), "clSetKernelArg");
  }
  auto const& value = std::get<std::vector<std::byte>>(argument);
  check(clSetKernelArg(kernel, index, value.size(), value.data()), "clSetKernelArg");
}

}  // namespace

std::optional<std::string> opencl_device() {
  auto const device = first_device();
  return device ? std::optional(name_of(*device)) : std::nullopt;
}

OpenClRun run_opencl(std::string const& source, std::string const& options, Buffers buffers,
                     std::vector<OpenClLaunch> const& launches) {
  auto const found = first_device();
  if (!found) throw std::runtime_error("no OpenCL device");
  cl_device_id const device = *found;
  cl_int status = 0;
  Context const context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
  check(status, "clCreateContext");
  Queue const queue(clCreateCommandQueue(context.get(), device, 0, &status));
  check(status, "clCreateCommandQueue");
  Program const program = build(context.get(), device, source, options);

  std::map<std::string, Buffer, std::less<>> memory;
  for (auto& [name, bytes] : buffers) {
    memory[name] = Buffer(
        clCreateBuffer(context.get(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes.size(), bytes.data(), &status));
    check(status, "clCreateBuffer");
  }
  std::map<std::string, Buffer, std::less<>> images;
  for (auto const& launch : launches)
    for (auto const& argument : launch.arguments)
      if (auto const* image = std::get_if<ImageOf>(&argument))
        images[image->buffer] = make_image(context.get(), *image, buffers.at(image->buffer));
  std::map<std::string, Kernel, std::less<>> kernels;
  for (auto const& launch : launches)
    if (!kernels.contains(launch.kernel)) {
      kernels[launch.kernel] = Kernel(clCreateKernel(program.get(), launch.kernel.c_str(), &status));
      check(status, "clCreateKernel");
    }

  double const start_s = processor_time_s();
  for (auto const& launch : launches) {
    cl_kernel const kernel = kernels.at(launch.kernel).get();
    for (cl_uint i = 0; i < launch.arguments.size(); ++i) set_argument(kernel, i, launch.arguments[i], memory, images);
    check(clEnqueueNDRangeKernel(queue.get(), kernel, launch.dimensions, nullptr, launch.global.data(),
                                 launch.local.data(), 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  }
  check(clFinish(queue.get()), "clFinish");
  double const cpu_s = processor_time_s() - start_s;

  for (auto& [name, bytes] : buffers)
    check(clEnqueueReadBuffer(queue.get(), memory.at(name).get(), CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr,
                              nullptr),
          "clEnqueueReadBuffer");
  return {name_of(device), std::move(buffers), cpu_s};
}

}  // namespace kernelcast::suites
