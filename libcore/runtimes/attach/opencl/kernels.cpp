// Kernels, their arguments and their launches.
#include <algorithm>
#include <cstring>
#include <optional>

#include "runtimes/attach/opencl/calls.hpp"
#include "runtimes/attach/opencl/objects.hpp"
#include "runtimes/attach/opencl/passing.hpp"
#include "runtimes/attach/opencl/steering.hpp"

namespace kernelcast::attach {
namespace {

void remember_kernel(cl_kernel kernel, cl_program program) {
  if (!kernel) return;
  quietly([&] {
    auto made = std::make_shared<Kernel>();
    char name[512] = "";
    cl_uint count = 0;
    next.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name, nullptr);
    next.clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr);
    made->name = name;
    made->arguments.resize(count);
    std::lock_guard const lock(objects().mutex);
    auto const known = objects().programs.find(program);
    if (known == objects().programs.end()) return;
    made->program = known->second;
    made->history = &(*known->second->histories)[made->name];
    objects().kernels[kernel] = std::move(made);
  });
}

cl_kernel CL_API_CALL create_kernel(cl_program program, char const* name, cl_int* status) {
  auto const kernel = next.clCreateKernel(program, name, status);
  remember_kernel(kernel, program);
  return kernel;
}

cl_int CL_API_CALL create_kernels(cl_program program, cl_uint capacity, cl_kernel* kernels, cl_uint* count) {
  cl_uint made = 0;
  auto const status = next.clCreateKernelsInProgram(program, capacity, kernels, &made);
  if (count) *count = made;
  if (status == CL_SUCCESS && kernels)
    for (cl_uint i = 0; i < std::min(made, capacity); ++i) remember_kernel(kernels[i], program);
  return status;
}

cl_kernel CL_API_CALL clone_kernel(cl_kernel source, cl_int* status) {
  auto const kernel = next.clCloneKernel(source, status);
  if (kernel)
    quietly([&] {
      std::lock_guard const lock(objects().mutex);
      auto const known = objects().kernels.find(source);
      if (known != objects().kernels.end()) objects().kernels[kernel] = std::make_shared<Kernel>(*known->second);
    });
  return kernel;
}

cl_int CL_API_CALL release_kernel(cl_kernel kernel) {
  cl_uint references = 0;
  next.clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof references, &references, nullptr);
  if (references == 1)
    quietly([&] {
      std::lock_guard const lock(objects().mutex);
      objects().kernels.erase(kernel);
    });
  return next.clReleaseKernel(kernel);
}

// What a pointer-sized value is: a handle that we have seen made, or a number.
Argument::Kind kind_of(std::size_t bytes, void const* value, std::shared_ptr<Memory>& found) {
  found = nullptr;
  if (!value) return Argument::Kind::local;  // or a null pointer
  if (bytes != sizeof(cl_mem)) return Argument::Kind::value;
  cl_mem memory = nullptr;
  std::memcpy(&memory, value, sizeof memory);
  auto const known = objects().memory.find(memory);
  if (known != objects().memory.end()) {
    found = known->second;
    return Argument::Kind::memory;
  }
  cl_sampler sampler = nullptr;
  std::memcpy(&sampler, value, sizeof sampler);
  if (objects().samplers.contains(sampler)) return Argument::Kind::sampler;
  return Argument::Kind::value;
}

cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, std::size_t bytes, void const* value) {
  auto const status = next.clSetKernelArg(kernel, index, bytes, value);
  if (status != CL_SUCCESS) return status;
  quietly([&] {
    std::lock_guard const lock(objects().mutex);
    auto const known = objects().kernels.find(kernel);
    if (known == objects().kernels.end() || index >= known->second->arguments.size()) return;
    auto& argument = known->second->arguments[index];
    argument.kind = kind_of(bytes, value, argument.memory);
    argument.bytes = bytes;
    auto const* const begin = static_cast<std::byte const*>(value);
    argument.content.assign(begin, begin ? begin + bytes : begin);
  });
  return status;
}

cl_int CL_API_CALL set_argument_svm(cl_kernel kernel, cl_uint index, void const* value) {
  auto const status = next.clSetKernelArgSVMPointer(kernel, index, value);
  if (status == CL_SUCCESS)
    quietly([&] {
      std::lock_guard const lock(objects().mutex);
      auto const known = objects().kernels.find(kernel);
      if (known == objects().kernels.end() || index >= known->second->arguments.size()) return;
      auto& argument = known->second->arguments[index];
      argument.kind = Argument::Kind::shared_virtual;
      argument.memory = nullptr;
      argument.content.resize(sizeof value);
      std::memcpy(argument.content.data(), &value, sizeof value);
    });
  return status;
}

cl_int CL_API_CALL set_exec_info(cl_kernel kernel, cl_kernel_exec_info what, std::size_t bytes, void const* value) {
  auto const status = next.clSetKernelExecInfo(kernel, what, bytes, value);
  if (status == CL_SUCCESS && what == CL_KERNEL_EXEC_INFO_SVM_PTRS)
    quietly([&] {
      std::lock_guard const lock(objects().mutex);
      auto const known = objects().kernels.find(kernel);
      if (known == objects().kernels.end()) return;
      auto& pointers = known->second->pointed_to;
      pointers.resize(bytes / sizeof(void*));
      std::memcpy(pointers.data(), value, pointers.size() * sizeof(void*));
    });
  return status;
}

// ---------------------------------------------------------------- launches

cl_int CL_API_CALL enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, std::size_t const* offset,
                           std::size_t const* global, std::size_t const* local, cl_uint waits,
                           cl_event const* wait_list, cl_event* event) {
  std::optional<Passing> passing;
  std::optional<cl_int> steered;
  std::vector<cl_event> all;
  quietly([&] {
    passing.emplace(kernel, dimensions, global, local);
    if (auto const number = steering() ? passing->number() : std::nullopt) {
      if (passing->is_new())
        note(queue, *number);
      else
        steered = steer({queue, kernel, dimensions, offset, global, local, waits, wait_list, event}, *number);
    }
    if (!passing->is_new()) return;
    passing->describe(queue, kernel, offset, waits, wait_list);
    all = passing->reads();
    if (!all.empty()) all.insert(all.end(), wait_list, wait_list + waits);
  });
  auto const status = steered       ? *steered
                      : all.empty() ? next.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                                                  waits, wait_list, event)
                                    : next.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                                                  static_cast<cl_uint>(all.size()), all.data(), event);
  if (passing) quietly([&] { passing->conclude(status == CL_SUCCESS); });
  return status;
}

cl_int CL_API_CALL enqueue_task(cl_command_queue queue, cl_kernel kernel, cl_uint waits, cl_event const* wait_list,
                                cl_event* event) {
  std::size_t const one = 1;
  return enqueue(queue, kernel, 1, nullptr, &one, &one, waits, wait_list, event);
}

}  // namespace

void take_kernels(cl_icd_dispatch& layer) {
  layer.clCreateKernel = create_kernel;
  layer.clCreateKernelsInProgram = create_kernels;
  layer.clCloneKernel = clone_kernel;
  layer.clReleaseKernel = release_kernel;
  layer.clSetKernelArg = set_argument;
  layer.clSetKernelArgSVMPointer = set_argument_svm;
  layer.clSetKernelExecInfo = set_exec_info;
  layer.clEnqueueNDRangeKernel = enqueue;
  layer.clEnqueueTask = enqueue_task;
}

}  // namespace kernelcast::attach
