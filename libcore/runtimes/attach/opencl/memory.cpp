// Buffers, images, samplers and shared virtual memory, and whether anything was ever written to them.
//
// Limits: objects made from those of a graphics API are unknown here.
#include "runtimes/attach/opencl/calls.hpp"
#include "runtimes/attach/opencl/objects.hpp"
#include "runtimes/attach/opencl/passing.hpp"

namespace kernelcast::attach {
namespace {

// The record of a new object; that of `whole` where it is a part of another.
void remember(cl_mem memory, cl_mem_flags flags, cl_mem whole = nullptr) {
  if (!memory) return;
  quietly([&] {
    auto made = std::make_shared<Memory>();
    made->written = (flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR)) != 0;
    if (!whole) {
      made->whole = memory;
      next.clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof made->context, &made->context, nullptr);
      next.clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof made->bytes, &made->bytes, nullptr);
    }
    std::lock_guard const lock(objects().mutex);
    auto& table = objects().memory;
    if (whole) {
      auto const known = table.find(whole);
      if (known != table.end())
        made = known->second;
      else
        made->written = true;
    } else {
      objects().allocated_bytes[made->context] += made->bytes;
    }
    table[memory] = std::move(made);
  });
}

void mark_written(cl_mem memory) {
  quietly([&] {
    std::lock_guard const lock(objects().mutex);
    auto const known = objects().memory.find(memory);
    if (known != objects().memory.end()) known->second->written = true;
  });
}

// ---------------------------------------------------------------- making and releasing

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, std::size_t bytes, void* host,
                                 cl_int* status) {
  auto const memory = next.clCreateBuffer(context, flags, bytes, host, status);
  remember(memory, flags);
  if (memory) quietly([&] { expect(bytes); });
  return memory;
}
cl_mem CL_API_CALL create_buffer_with_properties(cl_context context, cl_mem_properties const* properties,
                                                 cl_mem_flags flags, std::size_t bytes, void* host, cl_int* status) {
  auto const memory = next.clCreateBufferWithProperties(context, properties, flags, bytes, host, status);
  remember(memory, flags);
  if (memory) quietly([&] { expect(bytes); });
  return memory;
}
cl_mem CL_API_CALL create_sub_buffer(cl_mem whole, cl_mem_flags flags, cl_buffer_create_type type, void const* info,
                                     cl_int* status) {
  auto const memory = next.clCreateSubBuffer(whole, flags, type, info, status);
  remember(memory, flags, whole);
  return memory;
}
cl_mem CL_API_CALL create_image(cl_context context, cl_mem_flags flags, cl_image_format const* format,
                                cl_image_desc const* shape, void* host, cl_int* status) {
  auto const memory = next.clCreateImage(context, flags, format, shape, host, status);
  remember(memory, flags, shape ? shape->mem_object : nullptr);
  return memory;
}
cl_mem CL_API_CALL create_image_with_properties(cl_context context, cl_mem_properties const* properties,
                                                cl_mem_flags flags, cl_image_format const* format,
                                                cl_image_desc const* shape, void* host, cl_int* status) {
  auto const memory = next.clCreateImageWithProperties(context, properties, flags, format, shape, host, status);
  remember(memory, flags, shape ? shape->mem_object : nullptr);
  return memory;
}
cl_mem CL_API_CALL create_image_2d(cl_context context, cl_mem_flags flags, cl_image_format const* format,
                                   std::size_t width, std::size_t height, std::size_t pitch, void* host,
                                   cl_int* status) {
  auto const memory = next.clCreateImage2D(context, flags, format, width, height, pitch, host, status);
  remember(memory, flags);
  return memory;
}
cl_mem CL_API_CALL create_image_3d(cl_context context, cl_mem_flags flags, cl_image_format const* format,
                                   std::size_t width, std::size_t height, std::size_t depth, std::size_t row_pitch,
                                   std::size_t slice_pitch, void* host, cl_int* status) {
  auto const memory =
      next.clCreateImage3D(context, flags, format, width, height, depth, row_pitch, slice_pitch, host, status);
  remember(memory, flags);
  return memory;
}

cl_int CL_API_CALL release_memory(cl_mem memory) {
  cl_uint references = 0;
  next.clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof references, &references, nullptr);
  if (references == 1)
    quietly([&] {
      std::lock_guard const lock(objects().mutex);
      auto const known = objects().memory.find(memory);
      if (known == objects().memory.end()) return;
      auto const& of = *known->second;
      if (of.whole == memory) objects().allocated_bytes[of.context] -= of.bytes;
      objects().memory.erase(known);
    });
  return next.clReleaseMemObject(memory);
}

// ---------------------------------------------------------------- samplers

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

// ---------------------------------------------------------------- shared virtual memory

void* CL_API_CALL svm_alloc(cl_context context, cl_svm_mem_flags flags, std::size_t bytes, cl_uint alignment) {
  void* const memory = next.clSVMAlloc(context, flags, bytes, alignment);
  if (memory)
    quietly([&] {
      std::lock_guard const lock(objects().mutex);
      objects().shared_virtual[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
    });
  return memory;
}

void forget_svm(void* memory) {
  quietly([&] {
    std::lock_guard const lock(objects().mutex);
    objects().shared_virtual.erase(reinterpret_cast<std::uintptr_t>(memory));
  });
}

void CL_API_CALL svm_free(cl_context context, void* memory) {
  forget_svm(memory);
  next.clSVMFree(context, memory);
}

cl_int CL_API_CALL enqueue_svm_free(cl_command_queue queue, cl_uint count, void* pointers[],
                                    void(CL_CALLBACK* free)(cl_command_queue, cl_uint, void**, void*), void* user,
                                    cl_uint waits, cl_event const* wait_list, cl_event* event) {
  auto const status = next.clEnqueueSVMFree(queue, count, pointers, free, user, waits, wait_list, event);
  if (status == CL_SUCCESS)
    for (cl_uint i = 0; i < count; ++i) forget_svm(pointers[i]);
  return status;
}

// ---------------------------------------------------------------- writing

cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem to, cl_bool blocking, std::size_t offset,
                                std::size_t bytes, void const* from, cl_uint waits, cl_event const* wait_list,
                                cl_event* event) {
  mark_written(to);
  return next.clEnqueueWriteBuffer(queue, to, blocking, offset, bytes, from, waits, wait_list, event);
}
cl_int CL_API_CALL write_rect(cl_command_queue queue, cl_mem to, cl_bool blocking, std::size_t const* origin,
                              std::size_t const* host_origin, std::size_t const* region, std::size_t row,
                              std::size_t slice, std::size_t host_row, std::size_t host_slice, void const* from,
                              cl_uint waits, cl_event const* wait_list, cl_event* event) {
  mark_written(to);
  return next.clEnqueueWriteBufferRect(queue, to, blocking, origin, host_origin, region, row, slice, host_row,
                                       host_slice, from, waits, wait_list, event);
}
cl_int CL_API_CALL fill_buffer(cl_command_queue queue, cl_mem to, void const* pattern, std::size_t pattern_bytes,
                               std::size_t offset, std::size_t bytes, cl_uint waits, cl_event const* wait_list,
                               cl_event* event) {
  mark_written(to);
  return next.clEnqueueFillBuffer(queue, to, pattern, pattern_bytes, offset, bytes, waits, wait_list, event);
}
cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to, std::size_t from_offset,
                               std::size_t to_offset, std::size_t bytes, cl_uint waits, cl_event const* wait_list,
                               cl_event* event) {
  mark_written(to);
  return next.clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, bytes, waits, wait_list, event);
}
cl_int CL_API_CALL copy_rect(cl_command_queue queue, cl_mem from, cl_mem to, std::size_t const* from_origin,
                             std::size_t const* to_origin, std::size_t const* region, std::size_t from_row,
                             std::size_t from_slice, std::size_t to_row, std::size_t to_slice, cl_uint waits,
                             cl_event const* wait_list, cl_event* event) {
  mark_written(to);
  return next.clEnqueueCopyBufferRect(queue, from, to, from_origin, to_origin, region, from_row, from_slice, to_row,
                                      to_slice, waits, wait_list, event);
}
void* CL_API_CALL map_buffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, cl_map_flags flags,
                             std::size_t offset, std::size_t bytes, cl_uint waits, cl_event const* wait_list,
                             cl_event* event, cl_int* status) {
  if (flags & ~cl_map_flags{CL_MAP_READ}) mark_written(memory);
  return next.clEnqueueMapBuffer(queue, memory, blocking, flags, offset, bytes, waits, wait_list, event, status);
}
cl_int CL_API_CALL write_image(cl_command_queue queue, cl_mem to, cl_bool blocking, std::size_t const* origin,
                               std::size_t const* region, std::size_t row, std::size_t slice, void const* from,
                               cl_uint waits, cl_event const* wait_list, cl_event* event) {
  mark_written(to);
  return next.clEnqueueWriteImage(queue, to, blocking, origin, region, row, slice, from, waits, wait_list, event);
}
cl_int CL_API_CALL fill_image(cl_command_queue queue, cl_mem to, void const* colour, std::size_t const* origin,
                              std::size_t const* region, cl_uint waits, cl_event const* wait_list, cl_event* event) {
  mark_written(to);
  return next.clEnqueueFillImage(queue, to, colour, origin, region, waits, wait_list, event);
}
cl_int CL_API_CALL copy_image(cl_command_queue queue, cl_mem from, cl_mem to, std::size_t const* from_origin,
                              std::size_t const* to_origin, std::size_t const* region, cl_uint waits,
                              cl_event const* wait_list, cl_event* event) {
  mark_written(to);
  return next.clEnqueueCopyImage(queue, from, to, from_origin, to_origin, region, waits, wait_list, event);
}
cl_int CL_API_CALL image_to_buffer(cl_command_queue queue, cl_mem from, cl_mem to, std::size_t const* origin,
                                   std::size_t const* region, std::size_t offset, cl_uint waits,
                                   cl_event const* wait_list, cl_event* event) {
  mark_written(to);
  return next.clEnqueueCopyImageToBuffer(queue, from, to, origin, region, offset, waits, wait_list, event);
}
cl_int CL_API_CALL buffer_to_image(cl_command_queue queue, cl_mem from, cl_mem to, std::size_t offset,
                                   std::size_t const* origin, std::size_t const* region, cl_uint waits,
                                   cl_event const* wait_list, cl_event* event) {
  mark_written(to);
  return next.clEnqueueCopyBufferToImage(queue, from, to, offset, origin, region, waits, wait_list, event);
}
void* CL_API_CALL map_image(cl_command_queue queue, cl_mem memory, cl_bool blocking, cl_map_flags flags,
                            std::size_t const* origin, std::size_t const* region, std::size_t* row, std::size_t* slice,
                            cl_uint waits, cl_event const* wait_list, cl_event* event, cl_int* status) {
  if (flags & ~cl_map_flags{CL_MAP_READ}) mark_written(memory);
  return next.clEnqueueMapImage(queue, memory, blocking, flags, origin, region, row, slice, waits, wait_list, event,
                                status);
}
cl_int CL_API_CALL native_kernel(cl_command_queue queue, void(CL_CALLBACK* function)(void*), void* arguments,
                                 std::size_t bytes, cl_uint count, cl_mem const* memory, void const** places,
                                 cl_uint waits, cl_event const* wait_list, cl_event* event) {
  for (cl_uint i = 0; memory && i < count; ++i) mark_written(memory[i]);
  return next.clEnqueueNativeKernel(queue, function, arguments, bytes, count, memory, places, waits, wait_list, event);
}

}  // namespace

void take_memory(cl_icd_dispatch& layer) {
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
  layer.clSVMAlloc = svm_alloc;
  layer.clSVMFree = svm_free;
  layer.clEnqueueSVMFree = enqueue_svm_free;
  layer.clEnqueueWriteBuffer = write_buffer;
  layer.clEnqueueWriteBufferRect = write_rect;
  layer.clEnqueueFillBuffer = fill_buffer;
  layer.clEnqueueCopyBuffer = copy_buffer;
  layer.clEnqueueCopyBufferRect = copy_rect;
  layer.clEnqueueMapBuffer = map_buffer;
  layer.clEnqueueWriteImage = write_image;
  layer.clEnqueueFillImage = fill_image;
  layer.clEnqueueCopyImage = copy_image;
  layer.clEnqueueCopyImageToBuffer = image_to_buffer;
  layer.clEnqueueCopyBufferToImage = buffer_to_image;
  layer.clEnqueueMapImage = map_image;
  layer.clEnqueueNativeKernel = native_kernel;
}

}  // namespace kernelcast::attach
