// The OpenCL layer: sees every kernel launch of an application and describes the ones that are new.
//
// Problem: users have applications, not launch files. [panwar] catches launches transparently, in an OpenCL layer.
// Method: the ICD loader (ocl-icd 2.3, OPENCL_LAYERS) puts this library's functions before the vendor's. Sources,
// build options and arguments are remembered as they pass; the first launch of a kernel with new sizes is written to
// the spool as a launch file (spool.hpp), of which miniemu emulates what it likes, in its own process. Later launches
// cost a look-up and a count.
// Limits: programs from source only; see capture.cpp for what else has no launch file. The application's calls return
// what they would without the layer, whatever fails in here.
#include <CL/cl_layer.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "intercept/opencl/capture.hpp"
#include "intercept/opencl/objects.hpp"
#include "intercept/opencl/passing.hpp"

namespace kernelcast::intercept {

Objects& objects() {
  static auto* const known = new Objects;  // never destroyed: applications call OpenCL until the very end
  return *known;
}

namespace {

cl_icd_dispatch next;   // the loader's functions below this layer
cl_icd_dispatch layer;  // ours, and the others' as they are

constexpr double longest_wait_at_exit_s = 5;

// Nothing that goes wrong in the layer may reach the application.
template <class Action>
void quietly(Action action) noexcept {
  try {
    action();
  } catch (...) {  // out of memory: this launch is not described
  }
}

void remember(cl_program program, Program content) {
  if (!program) return;
  quietly([&] {
    std::lock_guard const lock(objects().mutex);
    objects().programs[program] = std::make_shared<Program>(std::move(content));
  });
}

void remember_memory(cl_mem memory) {
  if (!memory) return;
  quietly([&] {
    std::lock_guard const lock(objects().mutex);
    objects().memory.insert(memory);
  });
}

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
    made->program = known != objects().programs.end()
                        ? known->second
                        : std::make_shared<Program>(Program{"", "", "its program is unknown"});
    auto const& made_from = *made->program;
    made->history = &objects().histories[made->name + '\n' + made_from.options + '\n' + made_from.source];
    objects().kernels[kernel] = std::move(made);
  });
}

// ---------------------------------------------------------------- programs

cl_program CL_API_CALL create_with_source(cl_context context, cl_uint count, char const** strings,
                                          std::size_t const* lengths, cl_int* status) {
  auto const program = next.clCreateProgramWithSource(context, count, strings, lengths, status);
  quietly([&] {
    if (!program) return;
    Program content;
    for (cl_uint i = 0; i < count; ++i)
      content.source += lengths && lengths[i] ? std::string(strings[i], lengths[i]) : std::string(strings[i]);
    remember(program, std::move(content));
  });
  return program;
}

cl_program CL_API_CALL create_with_binary(cl_context context, cl_uint count, cl_device_id const* devices,
                                          std::size_t const* lengths, unsigned char const** binaries,
                                          cl_int* binary_status, cl_int* status) {
  auto const program =
      next.clCreateProgramWithBinary(context, count, devices, lengths, binaries, binary_status, status);
  remember(program, {"", "", "its program was made from a binary (pyopencl compiles with PYOPENCL_NO_CACHE=1)"});
  return program;
}

cl_program CL_API_CALL create_with_il(cl_context context, void const* il, std::size_t bytes, cl_int* status) {
  auto const program = next.clCreateProgramWithIL(context, il, bytes, status);
  remember(program, {"", "", "its program was made from an intermediate language"});
  return program;
}

cl_program CL_API_CALL create_with_built_in(cl_context context, cl_uint count, cl_device_id const* devices,
                                            char const* names, cl_int* status) {
  auto const program = next.clCreateProgramWithBuiltInKernels(context, count, devices, names, status);
  remember(program, {"", "", "it is built into the device"});
  return program;
}

cl_program CL_API_CALL link(cl_context context, cl_uint devices, cl_device_id const* list, char const* options,
                            cl_uint count, cl_program const* programs, void(CL_CALLBACK* notify)(cl_program, void*),
                            void* user, cl_int* status) {
  auto const program = next.clLinkProgram(context, devices, list, options, count, programs, notify, user, status);
  quietly([&] {
    if (!program) return;
    // One that was compiled alone is as good as built; several have no common source.
    std::unique_lock lock(objects().mutex);
    auto const known = count == 1 ? objects().programs.find(programs[0]) : objects().programs.end();
    Program content =
        known != objects().programs.end() ? *known->second : Program{"", "", "its program was linked from several"};
    lock.unlock();
    remember(program, std::move(content));
  });
  return program;
}

void take_options(cl_program program, char const* options, char const* why_not) noexcept {
  quietly([&] {
    std::lock_guard const lock(objects().mutex);
    auto const known = objects().programs.find(program);
    if (known == objects().programs.end()) return;
    known->second->options = options ? options : "";
    if (why_not) known->second->why_not = why_not;
  });
}

cl_int CL_API_CALL build(cl_program program, cl_uint count, cl_device_id const* devices, char const* options,
                         void(CL_CALLBACK* notify)(cl_program, void*), void* user) {
  take_options(program, options, nullptr);
  return next.clBuildProgram(program, count, devices, options, notify, user);
}

cl_int CL_API_CALL compile(cl_program program, cl_uint devices, cl_device_id const* list, char const* options,
                           cl_uint headers, cl_program const* header_programs, char const** header_names,
                           void(CL_CALLBACK* notify)(cl_program, void*), void* user) {
  take_options(program, options, headers > 0 ? "its program has headers in memory" : nullptr);
  return next.clCompileProgram(program, devices, list, options, headers, header_programs, header_names, notify, user);
}

cl_int CL_API_CALL release_program(cl_program program) {
  cl_uint references = 0;
  next.clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof references, &references, nullptr);
  if (references == 1)
    quietly([&] {
      std::lock_guard const lock(objects().mutex);
      objects().programs.erase(program);
    });
  return next.clReleaseProgram(program);
}

// ---------------------------------------------------------------- memory and samplers

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, std::size_t bytes, void* host,
                                 cl_int* status) {
  auto const memory = next.clCreateBuffer(context, flags, bytes, host, status);
  remember_memory(memory);
  return memory;
}
cl_mem CL_API_CALL create_buffer_with_properties(cl_context context, cl_mem_properties const* properties,
                                                 cl_mem_flags flags, std::size_t bytes, void* host, cl_int* status) {
  auto const memory = next.clCreateBufferWithProperties(context, properties, flags, bytes, host, status);
  remember_memory(memory);
  return memory;
}
cl_mem CL_API_CALL create_sub_buffer(cl_mem whole, cl_mem_flags flags, cl_buffer_create_type type, void const* info,
                                     cl_int* status) {
  auto const memory = next.clCreateSubBuffer(whole, flags, type, info, status);
  remember_memory(memory);
  return memory;
}
cl_mem CL_API_CALL create_image(cl_context context, cl_mem_flags flags, cl_image_format const* format,
                                cl_image_desc const* shape, void* host, cl_int* status) {
  auto const memory = next.clCreateImage(context, flags, format, shape, host, status);
  remember_memory(memory);
  return memory;
}
cl_mem CL_API_CALL create_image_with_properties(cl_context context, cl_mem_properties const* properties,
                                                cl_mem_flags flags, cl_image_format const* format,
                                                cl_image_desc const* shape, void* host, cl_int* status) {
  auto const memory = next.clCreateImageWithProperties(context, properties, flags, format, shape, host, status);
  remember_memory(memory);
  return memory;
}
cl_mem CL_API_CALL create_image_2d(cl_context context, cl_mem_flags flags, cl_image_format const* format,
                                   std::size_t width, std::size_t height, std::size_t pitch, void* host,
                                   cl_int* status) {
  auto const memory = next.clCreateImage2D(context, flags, format, width, height, pitch, host, status);
  remember_memory(memory);
  return memory;
}
cl_mem CL_API_CALL create_image_3d(cl_context context, cl_mem_flags flags, cl_image_format const* format,
                                   std::size_t width, std::size_t height, std::size_t depth, std::size_t row_pitch,
                                   std::size_t slice_pitch, void* host, cl_int* status) {
  auto const memory =
      next.clCreateImage3D(context, flags, format, width, height, depth, row_pitch, slice_pitch, host, status);
  remember_memory(memory);
  return memory;
}

cl_int CL_API_CALL release_memory(cl_mem memory) {
  cl_uint references = 0;
  next.clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof references, &references, nullptr);
  if (references == 1)
    quietly([&] {
      std::lock_guard const lock(objects().mutex);
      objects().memory.erase(memory);
    });
  return next.clReleaseMemObject(memory);
}

void remember_sampler(cl_sampler sampler, bool normalized, cl_addressing_mode mode, cl_filter_mode filter) {
  if (!sampler) return;
  quietly([&] {
    std::string words = filter == CL_FILTER_LINEAR ? "linear" : "nearest";
    words += mode == CL_ADDRESS_REPEAT            ? ",wrap"
             : mode == CL_ADDRESS_MIRRORED_REPEAT ? ",mirror"
             : mode == CL_ADDRESS_CLAMP           ? ",border"
                                                  : ",clamp";
    if (normalized) words += ",normalized";
    std::lock_guard const lock(objects().mutex);
    objects().samplers[sampler] = words;
  });
}

cl_sampler CL_API_CALL create_sampler(cl_context context, cl_bool normalized, cl_addressing_mode mode,
                                      cl_filter_mode filter, cl_int* status) {
  auto const sampler = next.clCreateSampler(context, normalized, mode, filter, status);
  remember_sampler(sampler, normalized == CL_TRUE, mode, filter);
  return sampler;
}

cl_sampler CL_API_CALL create_sampler_with_properties(cl_context context, cl_sampler_properties const* properties,
                                                      cl_int* status) {
  auto const sampler = next.clCreateSamplerWithProperties(context, properties, status);
  cl_sampler_properties normalized = CL_TRUE, mode = CL_ADDRESS_CLAMP, filter = CL_FILTER_NEAREST;
  for (auto const* p = properties; p && p[0] != 0; p += 2) {
    if (p[0] == CL_SAMPLER_NORMALIZED_COORDS) normalized = p[1];
    if (p[0] == CL_SAMPLER_ADDRESSING_MODE) mode = p[1];
    if (p[0] == CL_SAMPLER_FILTER_MODE) filter = p[1];
  }
  remember_sampler(sampler, normalized == CL_TRUE, static_cast<cl_addressing_mode>(mode),
                   static_cast<cl_filter_mode>(filter));
  return sampler;
}

// ---------------------------------------------------------------- kernels

cl_kernel CL_API_CALL create_kernel(cl_program program, char const* name, cl_int* status) {
  auto const kernel = next.clCreateKernel(program, name, status);
  remember_kernel(kernel, program);
  return kernel;
}

cl_int CL_API_CALL create_kernels(cl_program program, cl_uint room, cl_kernel* kernels, cl_uint* count) {
  cl_uint made = 0;
  auto const status = next.clCreateKernelsInProgram(program, room, kernels, &made);
  if (count) *count = made;
  if (status == CL_SUCCESS && kernels)
    for (cl_uint i = 0; i < std::min(made, room); ++i) remember_kernel(kernels[i], program);
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
Argument::Kind kind_of(std::size_t bytes, void const* value) {
  if (!value) return Argument::Kind::local;
  if (bytes != sizeof(cl_mem)) return Argument::Kind::value;
  cl_mem memory = nullptr;
  std::memcpy(&memory, value, sizeof memory);
  if (objects().memory.contains(memory)) return Argument::Kind::memory;
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
    argument.kind = kind_of(bytes, value);
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
      if (known != objects().kernels.end() && index < known->second->arguments.size())
        known->second->arguments[index].kind = Argument::Kind::shared_virtual;
    });
  return status;
}

// ---------------------------------------------------------------- launches

cl_int CL_API_CALL enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, std::size_t const* offset,
                           std::size_t const* global, std::size_t const* local, cl_uint waits,
                           cl_event const* wait_list, cl_event* event) {
  std::optional<Passing> passing;
  std::vector<cl_event> all;
  quietly([&] {
    passing.emplace(next, kernel, dimensions, global, local);
    if (!passing->is_new()) return;
    passing->describe(queue, kernel, offset, waits, wait_list);
    all = passing->reads();
    if (!all.empty()) all.insert(all.end(), wait_list, wait_list + waits);
  });
  auto const status = all.empty() ? next.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits,
                                                                wait_list, event)
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

void fill_layer() {
  layer = next;
  layer.clCreateProgramWithSource = create_with_source;
  layer.clCreateProgramWithBinary = create_with_binary;
  layer.clCreateProgramWithIL = create_with_il;
  layer.clCreateProgramWithBuiltInKernels = create_with_built_in;
  layer.clLinkProgram = link;
  layer.clBuildProgram = build;
  layer.clCompileProgram = compile;
  layer.clReleaseProgram = release_program;
  layer.clCreateBuffer = create_buffer;
  layer.clCreateBufferWithProperties = create_buffer_with_properties;
  layer.clCreateSubBuffer = create_sub_buffer;
  layer.clCreateImage = create_image;
  layer.clCreateImageWithProperties = create_image_with_properties;
  layer.clCreateImage2D = create_image_2d;
  layer.clCreateImage3D = create_image_3d;
  layer.clReleaseMemObject = release_memory;
  layer.clCreateSampler = create_sampler;
  layer.clCreateSamplerWithProperties = create_sampler_with_properties;
  layer.clCreateKernel = create_kernel;
  layer.clCreateKernelsInProgram = create_kernels;
  layer.clCloneKernel = clone_kernel;
  layer.clReleaseKernel = release_kernel;
  layer.clSetKernelArg = set_argument;
  layer.clSetKernelArgSVMPointer = set_argument_svm;
  layer.clEnqueueNDRangeKernel = enqueue;
  layer.clEnqueueTask = enqueue_task;
}

struct AtExit {
  ~AtExit() { wait_for_captures(longest_wait_at_exit_s); }
} at_exit;

}  // namespace
}  // namespace kernelcast::intercept

#define KERNELCAST_EXPORT extern "C" __attribute__((visibility("default")))

KERNELCAST_EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, std::size_t room, void* value,
                                                    std::size_t* bytes) {
  cl_layer_api_version const version = CL_LAYER_API_VERSION_100;
  char const name[] = "kernelcast";
  void const* const answer = what == CL_LAYER_API_VERSION ? static_cast<void const*>(&version) : name;
  std::size_t const size = what == CL_LAYER_API_VERSION ? sizeof version : sizeof name;
  if (what != CL_LAYER_API_VERSION && what != CL_LAYER_NAME) return CL_INVALID_VALUE;
  if (value && room < size) return CL_INVALID_VALUE;
  if (value) std::memcpy(value, answer, size);
  if (bytes) *bytes = size;
  return CL_SUCCESS;
}

KERNELCAST_EXPORT cl_int CL_API_CALL clInitLayer(cl_uint entries, cl_icd_dispatch const* target, cl_uint* count,
                                                 cl_icd_dispatch const** ours) {
  using namespace kernelcast::intercept;
  if (!target || !count || !ours) return CL_INVALID_VALUE;
  // A loader that is older knows fewer functions; the rest stay null and nobody calls them.
  std::size_t const known = std::min<std::size_t>(entries, sizeof(cl_icd_dispatch) / sizeof(void*));
  std::memcpy(&next, target, known * sizeof(void*));
  fill_layer();
  *count = static_cast<cl_uint>(known);
  *ours = &layer;
  return CL_SUCCESS;
}
