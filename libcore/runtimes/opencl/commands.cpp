// The calls that enqueue, but for images and shared virtual memory: buffers, kernels, and what waits.
#include <algorithm>
#include <cstring>

#include "runtimes/opencl/copies.hpp"
#include "runtimes/opencl/repeats.hpp"

namespace kernelcast::opencl {

namespace {

// A rectangle of a buffer or of the host's memory; pitches of 0 are those of the region.
struct Rectangle {
  std::size_t offset, row, slice;
};
Rectangle rectangle_of(std::size_t const* origin, std::size_t const* region, std::size_t row, std::size_t slice) {
  if (row == 0) row = region[0];
  if (slice == 0) slice = region[1] * row;
  require(row >= region[0] && slice >= region[1] * row && slice % row == 0, CL_INVALID_VALUE);
  return {origin[0] + origin[1] * row + origin[2] * slice, row, slice};
}
std::size_t extent(Rectangle const& r, std::size_t const* region) {
  return r.offset + (region[2] - 1) * r.slice + (region[1] - 1) * r.row + region[0];
}

cl_int transfer(cl_command_queue given, cl_mem buffer, bool to_host, cl_bool blocking, std::size_t offset,
                std::size_t bytes, void* pointer, cl_uint waits, cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto& memory = known_buffer(buffer);
    auto& queue = queue_of(given, {&memory});
    require(pointer && bytes > 0 && inside(offset, bytes, memory.bytes), CL_INVALID_VALUE);
    require_access(memory, to_host, !to_host);
    return enqueue(lock,
                   {&queue, static_cast<cl_command_type>(to_host ? CL_COMMAND_READ_BUFFER : CL_COMMAND_WRITE_BUFFER),
                    waits, list, event, blocking != CL_FALSE},
                   [held = Memory(&memory), to_host, offset, bytes, pointer] {
                     auto* const there = held->data() + offset;
                     if (!to_host) changed(*held);
                     std::memmove(to_host ? pointer : there, to_host ? there : pointer, bytes);
                     return CL_SUCCESS;
                   });
  });
}

struct RectangleCall {
  std::size_t const *buffer_origin, *host_origin, *region;
  std::size_t buffer_row, buffer_slice, host_row, host_slice;
};
cl_int transfer_rectangle(cl_command_queue given, cl_mem buffer, bool to_host, cl_bool blocking,
                          RectangleCall const& asked, void* pointer, cl_uint waits, cl_event const* list,
                          cl_event* event) {
  return call([&](Lock& lock) {
    auto& memory = known_buffer(buffer);
    auto& queue = queue_of(given, {&memory});
    require(pointer && asked.buffer_origin && asked.host_origin, CL_INVALID_VALUE);
    require_access(memory, to_host, !to_host);
    check_region(asked.region);
    auto const here = rectangle_of(asked.buffer_origin, asked.region, asked.buffer_row, asked.buffer_slice);
    auto const host = rectangle_of(asked.host_origin, asked.region, asked.host_row, asked.host_slice);
    require(extent(here, asked.region) <= memory.bytes, CL_INVALID_VALUE);
    Range const region{asked.region[0], asked.region[1], asked.region[2]};
    return enqueue(
        lock,
        {&queue, static_cast<cl_command_type>(to_host ? CL_COMMAND_READ_BUFFER_RECT : CL_COMMAND_WRITE_BUFFER_RECT),
         waits, list, event, blocking != CL_FALSE},
        [held = Memory(&memory), to_host, here, host, region, pointer] {
          Box const a{held->data() + here.offset, here.row, here.slice};
          Box const b{static_cast<std::byte*>(pointer) + host.offset, host.row, host.slice};
          if (!to_host) changed(*held);
          copy_box(to_host ? b : a, to_host ? a : b, region[0], region[1], region[2]);
          return CL_SUCCESS;
        });
  });
}

cl_int wait_command(cl_command_queue given, cl_command_type type, cl_uint waits, cl_event const* list, cl_event* event,
                    Enqueued::Order order) {
  return call(
      [&](Lock& lock) { return enqueue(lock, {&queue_of(given), type, waits, list, event, false, order}, nothing); });
}

cl_int launch(cl_command_queue given, cl_command_type type, cl_kernel kernel, cl_uint dimensions,
              std::size_t const* offset, std::size_t const* global, std::size_t const* local, cl_uint waits,
              cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto& queue = queue_of(given);
    auto prepared =
        std::make_shared<PreparedLaunch>(prepare(known_kernel(kernel), queue, dimensions, offset, global, local));
    return enqueue(lock, {&queue, type, waits, list, event}, [prepared] { return run(*prepared); });
  });
}

}  // namespace

namespace api {

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, std::size_t offset,
                                       std::size_t bytes, void* pointer, cl_uint waits, cl_event const* list,
                                       cl_event* event) {
  return transfer(queue, buffer, true, blocking, offset, bytes, pointer, waits, list, event);
}
cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, std::size_t offset,
                                        std::size_t bytes, void const* pointer, cl_uint waits, cl_event const* list,
                                        cl_event* event) {
  return transfer(queue, buffer, false, blocking, offset, bytes, const_cast<void*>(pointer), waits, list, event);
}
cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                           std::size_t const* buffer_origin, std::size_t const* host_origin,
                                           std::size_t const* region, std::size_t buffer_row, std::size_t buffer_slice,
                                           std::size_t host_row, std::size_t host_slice, void* pointer, cl_uint waits,
                                           cl_event const* list, cl_event* event) {
  return transfer_rectangle(queue, buffer, true, blocking,
                            {buffer_origin, host_origin, region, buffer_row, buffer_slice, host_row, host_slice},
                            pointer, waits, list, event);
}
cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                            std::size_t const* buffer_origin, std::size_t const* host_origin,
                                            std::size_t const* region, std::size_t buffer_row, std::size_t buffer_slice,
                                            std::size_t host_row, std::size_t host_slice, void const* pointer,
                                            cl_uint waits, cl_event const* list, cl_event* event) {
  return transfer_rectangle(queue, buffer, false, blocking,
                            {buffer_origin, host_origin, region, buffer_row, buffer_slice, host_row, host_slice},
                            const_cast<void*>(pointer), waits, list, event);
}

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue given, cl_mem source, cl_mem target, std::size_t from,
                                       std::size_t to, std::size_t bytes, cl_uint waits, cl_event const* list,
                                       cl_event* event) {
  return call([&](Lock& lock) {
    auto &a = known_buffer(source), &b = known_buffer(target);
    auto& queue = queue_of(given, {&a, &b});
    require(bytes > 0 && inside(from, bytes, a.bytes) && inside(to, bytes, b.bytes), CL_INVALID_VALUE);
    require(a.address + from + bytes <= b.address + to || b.address + to + bytes <= a.address + from,
            CL_MEM_COPY_OVERLAP);
    return enqueue(lock, {&queue, CL_COMMAND_COPY_BUFFER, waits, list, event},
                   [x = Memory(&a), y = Memory(&b), from, to, bytes] {
                     changed(*y);
                     std::memmove(y->data() + to, x->data() + from, bytes);
                     return CL_SUCCESS;
                   });
  });
}

cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue given, cl_mem source, cl_mem target,
                                           std::size_t const* from, std::size_t const* to, std::size_t const* asked,
                                           std::size_t source_row, std::size_t source_slice, std::size_t target_row,
                                           std::size_t target_slice, cl_uint waits, cl_event const* list,
                                           cl_event* event) {
  return call([&](Lock& lock) {
    auto &a = known_buffer(source), &b = known_buffer(target);
    auto& queue = queue_of(given, {&a, &b});
    require(from && to, CL_INVALID_VALUE);
    check_region(asked);
    auto const here = rectangle_of(from, asked, source_row, source_slice);
    auto const there = rectangle_of(to, asked, target_row, target_slice);
    require(extent(here, asked) <= a.bytes && extent(there, asked) <= b.bytes, CL_INVALID_VALUE);
    require(
        !meet({a.data() + here.offset, here.row, here.slice}, {b.data() + there.offset, there.row, there.slice}, asked),
        CL_MEM_COPY_OVERLAP);
    Range const region{asked[0], asked[1], asked[2]};
    return enqueue(lock, {&queue, CL_COMMAND_COPY_BUFFER_RECT, waits, list, event},
                   [x = Memory(&a), y = Memory(&b), here, there, region] {
                     changed(*y);
                     copy_box({y->data() + there.offset, there.row, there.slice},
                              {x->data() + here.offset, here.row, here.slice}, region[0], region[1], region[2]);
                     return CL_SUCCESS;
                   });
  });
}

cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue given, cl_mem buffer, void const* pattern,
                                       std::size_t pattern_bytes, std::size_t offset, std::size_t bytes, cl_uint waits,
                                       cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto& memory = known_buffer(buffer);
    auto& queue = queue_of(given, {&memory});
    auto with = pattern_of(pattern, pattern_bytes);
    require(inside(offset, bytes, memory.bytes) && offset % pattern_bytes == 0 && bytes % pattern_bytes == 0,
            CL_INVALID_VALUE);
    return enqueue(lock, {&queue, CL_COMMAND_FILL_BUFFER, waits, list, event},
                   [held = Memory(&memory), with = std::move(with), offset, bytes] {
                     changed(*held);
                     fill(held->data() + offset, bytes, with);
                     return CL_SUCCESS;
                   });
  });
}

// Memory is the host's: a map is where it lies. With CL_MEM_USE_HOST_PTR of an image, or of memory that another object
// has, it is not the pointer that the application gave.
void* CL_API_CALL clEnqueueMapBuffer(cl_command_queue given, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                     std::size_t offset, std::size_t bytes, cl_uint waits, cl_event const* list,
                                     cl_event* event, cl_int* error) {
  void* out = nullptr;
  cl_int const status = call([&](Lock& lock) {
    auto& memory = known_buffer(buffer);
    auto& queue = queue_of(given, {&memory});
    require(bytes > 0 && inside(offset, bytes, memory.bytes), CL_INVALID_VALUE);
    check_map(memory, flags);
    cl_int const ended = enqueue(lock, {&queue, CL_COMMAND_MAP_BUFFER, waits, list, event, blocking != CL_FALSE},
                                 [held = Memory(&memory)] { return CL_SUCCESS; });
    out = memory.data() + offset;
    memory.maps.push_back(out);
    return ended;
  });
  if (error) *error = status;
  return status == CL_SUCCESS ? out : nullptr;
}

cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue given, cl_mem object, void* pointer, cl_uint waits,
                                           cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto& memory = known_memory(object);
    auto& queue = queue_of(given, {&memory});
    auto const at = std::ranges::find(memory.maps, pointer);
    require(at != memory.maps.end(), CL_INVALID_VALUE);
    cl_int const status =
        enqueue(lock, {&queue, CL_COMMAND_UNMAP_MEM_OBJECT, waits, list, event}, [held = Memory(&memory)] {
          changed(*held);
          return CL_SUCCESS;
        });
    memory.maps.erase(std::ranges::find(memory.maps, pointer));
    return status;
  });
}

cl_int CL_API_CALL clEnqueueMigrateMemObjects(cl_command_queue given, cl_uint count, cl_mem const* objects,
                                              cl_mem_migration_flags, cl_uint waits, cl_event const* list,
                                              cl_event* event) {
  return call([&](Lock& lock) {
    auto& queue = queue_of(given);
    require(count > 0 && objects, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < count; ++i) known_memory(objects[i]);
    return enqueue(lock, {&queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, waits, list, event}, nothing);
  });
}

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                          std::size_t const* offset, std::size_t const* global,
                                          std::size_t const* local, cl_uint waits, cl_event const* list,
                                          cl_event* event) {
  return launch(queue, CL_COMMAND_NDRANGE_KERNEL, kernel, dimensions, offset, global, local, waits, list, event);
}
cl_int CL_API_CALL clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint waits, cl_event const* list,
                                 cl_event* event) {
  std::size_t const one = 1;
  return launch(queue, CL_COMMAND_TASK, kernel, 1, nullptr, &one, &one, waits, list, event);
}

cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue given, void(CL_CALLBACK* function)(void*), void* arguments,
                                         std::size_t bytes, cl_uint count, cl_mem const* objects, void const** places,
                                         cl_uint waits, cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto& queue = queue_of(given);
    require(function && (arguments != nullptr) == (bytes > 0) && (count == 0 || arguments), CL_INVALID_VALUE);
    require((count == 0) == (objects == nullptr) && (count == 0) == (places == nullptr), CL_INVALID_VALUE);
    auto copy = bytes_of(static_cast<char const*>(arguments), bytes);
    std::vector<Memory> held;
    for (cl_uint i = 0; i < count; ++i) {
      auto& memory = known_memory(objects[i]);
      held.emplace_back(&memory);
      auto const at =
          static_cast<std::size_t>(static_cast<char const*>(places[i]) - static_cast<char const*>(arguments));
      require(inside(at, sizeof(void*), bytes), CL_INVALID_VALUE);
      std::memcpy(copy.data() + at, &memory.address, sizeof(void*));
    }
    return enqueue(lock, {&queue, CL_COMMAND_NATIVE_KERNEL, waits, list, event},
                   [function, copy = std::move(copy), held = std::move(held)]() mutable {
                     current_lock->unlock();  // it may call OpenCL
                     function(copy.empty() ? nullptr : copy.data());
                     current_lock->lock();
                     return CL_SUCCESS;
                   });
  });
}

using Order = Enqueued::Order;
cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint waits, cl_event const* list,
                                               cl_event* event) {
  return wait_command(queue, CL_COMMAND_MARKER, waits, list, event, Order::marker);
}
cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint waits, cl_event const* list,
                                                cl_event* event) {
  return wait_command(queue, CL_COMMAND_BARRIER, waits, list, event, Order::barrier);
}
cl_int CL_API_CALL clEnqueueMarker(cl_command_queue queue, cl_event* event) {
  return event ? wait_command(queue, CL_COMMAND_MARKER, 0, nullptr, event, Order::marker) : CL_INVALID_VALUE;
}
cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue queue) {
  return wait_command(queue, CL_COMMAND_BARRIER, 0, nullptr, nullptr, Order::barrier);
}
cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count, cl_event const* events) {
  return wait_command(queue, CL_COMMAND_BARRIER, count, events, nullptr, Order::barrier);
}

}  // namespace api
}  // namespace kernelcast::opencl
