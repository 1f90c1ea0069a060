// What an application enqueues, in order: kernels with their buffers, copies, fills. For the graph of the application.
//
// Method: with KERNELCAST_COMMANDS in the environment each command that was accepted becomes a line of
// ../command_log.hpp. What is done through a sub-buffer is done to the whole. Numbers of kernels are those of their
// launch files. Limits: order is that of the calls. Images count as buffers that are copied whole. Shared virtual
// memory that the host may use without mapping it has contents from the start, and what the host does to it later is
// not seen.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtimes/attach/command_log.hpp"
#include "runtimes/attach/opencl/calls.hpp"
#include "runtimes/attach/opencl/objects.hpp"
#include "runtimes/attach/opencl/passing.hpp"
#include "runtimes/attach/settings.hpp"

namespace kernelcast::attach {
namespace {

cl_icd_dispatch below;  // the layer's other functions

// A memory object as part of a whole.
struct Place {
  std::uint64_t buffer = 0;
  std::size_t offset = 0, bytes = 0;
};

class Log {
 public:
  void line(std::string text) {
    std::lock_guard const lock(mutex_);
    open_file();
    log_.line(std::move(text));
  }

  Place place_of(cl_mem memory) {
    std::lock_guard const lock(mutex_);
    open_file();
    auto const known = places_.find(memory);
    if (known != places_.end()) return known->second;
    Place place{0, 0, size_of(memory)};
    cl_mem whole = nullptr;
    next.clGetMemObjectInfo(memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, nullptr);
    if (whole) {
      next.clGetMemObjectInfo(memory, CL_MEM_OFFSET, sizeof place.offset, &place.offset, nullptr);
      auto of_whole = places_.find(whole);
      if (of_whole == places_.end()) of_whole = places_.emplace(whole, announce(whole)).first;
      place.buffer = of_whole->second.buffer;
    } else {
      place = announce(memory);
    }
    return places_[memory] = place;
  }

  // Where a pointer into shared virtual memory lies; of no bytes where it does not.
  Place place_of(void const* pointer) {
    auto const address = reinterpret_cast<std::uintptr_t>(pointer);
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    {
      std::lock_guard const lock(objects().mutex);
      auto after = objects().shared_virtual.upper_bound(address);
      if (after == objects().shared_virtual.begin() || address - (--after)->first >= after->second) return {};
      std::tie(begin, bytes) = *after;
    }
    std::lock_guard const lock(mutex_);
    open_file();
    auto const [at, is_new] = shared_virtual_.try_emplace(begin, next_buffer_);
    if (is_new) {
      announce(bytes, unmapped_.contains(begin));
      log_.line("S " + std::to_string(at->second) + ' ' + std::to_string(begin));
    }
    return {at->second, address - begin, bytes};
  }

  // The host uses it without mapping it.
  void add_unmapped(void const* memory) {
    std::lock_guard const lock(mutex_);
    unmapped_.insert(reinterpret_cast<std::uintptr_t>(memory));
  }

  void forget(cl_mem memory) {
    std::lock_guard const lock(mutex_);
    places_.erase(memory);
  }
  void forget(void const* memory) {
    std::lock_guard const lock(mutex_);
    shared_virtual_.erase(reinterpret_cast<std::uintptr_t>(memory));
    unmapped_.erase(reinterpret_cast<std::uintptr_t>(memory));
  }

 private:
  static std::size_t size_of(cl_mem memory) {
    std::size_t bytes = 0;
    next.clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
    return bytes;
  }

  Place announce(cl_mem memory) {
    cl_mem_flags flags = 0;
    next.clGetMemObjectInfo(memory, CL_MEM_FLAGS, sizeof flags, &flags, nullptr);
    bool const initial = (flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR)) != 0;
    return announce(size_of(memory), initial);
  }

  Place announce(std::size_t bytes, bool initial) {
    Place const place{next_buffer_++, 0, bytes};
    log_.line("B " + std::to_string(place.buffer) + ' ' + std::to_string(bytes) + (initial ? " 1" : " 0"));
    return place;
  }

  void open_file() {
    if (!log_.begins()) return;
    places_.clear();
    shared_virtual_.clear();
    next_buffer_ = 0;
  }

  std::mutex mutex_;
  CommandLog log_{settings().spool};
  std::uint64_t next_buffer_ = 0;
  std::unordered_map<cl_mem, Place> places_;
  std::map<std::uintptr_t, std::uint64_t> shared_virtual_;  // numbers, by where it begins
  std::set<std::uintptr_t> unmapped_;
};

Log& log() {
  static auto* const made = new Log;
  return *made;
}

std::string words(std::initializer_list<std::uint64_t> numbers) {
  std::string out;
  for (auto const number : numbers) out += ' ' + std::to_string(number);
  return out;
}

// One range of a memory object; of a rectangle, from its first byte to behind its last.
struct Range {
  std::size_t begin = 0, end = 0, bytes = 0;
};

Range rectangle(std::size_t const* origin, std::size_t const* region, std::size_t row, std::size_t slice) {
  if (row == 0) row = region[0];
  if (slice == 0) slice = row * region[1];
  std::size_t const begin = origin[0] + origin[1] * row + origin[2] * slice;
  return {begin, begin + (region[2] - 1) * slice + (region[1] - 1) * row + region[0],
          region[0] * region[1] * region[2]};
}

Range all_of(cl_mem memory) {
  std::size_t const bytes = log().place_of(memory).bytes;
  return {0, bytes, bytes};
}

void note(char const* kind, cl_mem memory, Range const& range) {
  auto const place = log().place_of(memory);
  log().line(kind + words({place.buffer, place.offset + range.begin, place.offset + range.end, range.bytes}));
}

// Of shared virtual memory; false where it is the host's own.
bool note(char const* kind, Place const& place, std::size_t bytes) {
  if (place.bytes == 0) return false;
  log().line(kind + words({place.buffer, place.offset, place.offset + bytes, bytes}));
  return true;
}

void note_copy(cl_mem from, Range const& range, cl_mem to, Range const& there) {
  auto const source = log().place_of(from), target = log().place_of(to);
  log().line("C" + words({source.buffer, source.offset + range.begin, source.offset + range.end, range.bytes,
                          target.buffer, target.offset + there.begin, target.offset + there.end}));
}

void note_kernel(cl_kernel kernel, std::uint64_t number) {
  std::vector<std::pair<std::size_t, cl_mem>> buffers;
  std::vector<std::pair<std::size_t, void const*>> pointers;
  std::vector<std::uintptr_t> reached;
  {
    std::lock_guard const lock(objects().mutex);
    auto const known = objects().kernels.find(kernel);
    if (known == objects().kernels.end()) return;
    auto const& arguments = known->second->arguments;
    reached = known->second->pointed_to;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].kind == Argument::Kind::shared_virtual) {
        void const* pointer = nullptr;
        std::memcpy(&pointer, arguments[i].content.data(), sizeof pointer);
        pointers.emplace_back(i, pointer);
      }
      if (arguments[i].kind != Argument::Kind::memory) continue;
      cl_mem memory = nullptr;
      std::memcpy(&memory, arguments[i].content.data(), sizeof memory);
      if (memory) buffers.emplace_back(i, memory);
    }
  }
  std::string text = "K" + words({number});
  auto const add = [&](std::size_t argument, Place const& place) {
    text += ' ' + std::to_string(argument) + ':' + std::to_string(place.buffer) + ':' + std::to_string(place.offset);
  };
  for (auto const& [argument, memory] : buffers) add(argument, log().place_of(memory));
  for (auto const& [argument, pointer] : pointers)
    if (auto const place = log().place_of(pointer); place.bytes != 0) add(argument, place);
  for (auto const pointer : reached) log().place_of(reinterpret_cast<void const*>(pointer));
  log().line(std::move(text));
}

// ---------------------------------------------------------------- the calls

cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, std::size_t const* offset,
                          std::size_t const* global, std::size_t const* local, cl_uint waits, cl_event const* wait_list,
                          cl_event* event) {
  auto const status =
      below.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait_list, event);
  if (status == CL_SUCCESS)
    quietly([&] {
      if (auto const number = number_of(kernel, dimensions, global, local)) note_kernel(kernel, *number);
    });
  return status;
}
cl_int CL_API_CALL launch_task(cl_command_queue queue, cl_kernel kernel, cl_uint waits, cl_event const* wait_list,
                               cl_event* event) {
  std::size_t const one = 1;
  return launch(queue, kernel, 1, nullptr, &one, &one, waits, wait_list, event);
}

cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem to, cl_bool blocking, std::size_t offset,
                                std::size_t bytes, void const* from, cl_uint waits, cl_event const* wait_list,
                                cl_event* event) {
  auto const status = below.clEnqueueWriteBuffer(queue, to, blocking, offset, bytes, from, waits, wait_list, event);
  if (status == CL_SUCCESS) quietly([&] { note("W", to, {offset, offset + bytes, bytes}); });
  return status;
}
cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem from, cl_bool blocking, std::size_t offset,
                               std::size_t bytes, void* to, cl_uint waits, cl_event const* wait_list, cl_event* event) {
  auto const status = below.clEnqueueReadBuffer(queue, from, blocking, offset, bytes, to, waits, wait_list, event);
  if (status == CL_SUCCESS) quietly([&] { note("R", from, {offset, offset + bytes, bytes}); });
  return status;
}
cl_int CL_API_CALL write_rect(cl_command_queue queue, cl_mem to, cl_bool blocking, std::size_t const* origin,
                              std::size_t const* host_origin, std::size_t const* region, std::size_t row,
                              std::size_t slice, std::size_t host_row, std::size_t host_slice, void const* from,
                              cl_uint waits, cl_event const* wait_list, cl_event* event) {
  auto const status = below.clEnqueueWriteBufferRect(queue, to, blocking, origin, host_origin, region, row, slice,
                                                     host_row, host_slice, from, waits, wait_list, event);
  if (status == CL_SUCCESS) quietly([&] { note("W", to, rectangle(origin, region, row, slice)); });
  return status;
}
cl_int CL_API_CALL read_rect(cl_command_queue queue, cl_mem from, cl_bool blocking, std::size_t const* origin,
                             std::size_t const* host_origin, std::size_t const* region, std::size_t row,
                             std::size_t slice, std::size_t host_row, std::size_t host_slice, void* to, cl_uint waits,
                             cl_event const* wait_list, cl_event* event) {
  auto const status = below.clEnqueueReadBufferRect(queue, from, blocking, origin, host_origin, region, row, slice,
                                                    host_row, host_slice, to, waits, wait_list, event);
  if (status == CL_SUCCESS) quietly([&] { note("R", from, rectangle(origin, region, row, slice)); });
  return status;
}
cl_int CL_API_CALL fill_buffer(cl_command_queue queue, cl_mem to, void const* pattern, std::size_t pattern_bytes,
                               std::size_t offset, std::size_t bytes, cl_uint waits, cl_event const* wait_list,
                               cl_event* event) {
  auto const status =
      below.clEnqueueFillBuffer(queue, to, pattern, pattern_bytes, offset, bytes, waits, wait_list, event);
  if (status == CL_SUCCESS) quietly([&] { note("F", to, {offset, offset + bytes, bytes}); });
  return status;
}
cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to, std::size_t from_offset,
                               std::size_t to_offset, std::size_t bytes, cl_uint waits, cl_event const* wait_list,
                               cl_event* event) {
  auto const status =
      below.clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, bytes, waits, wait_list, event);
  if (status == CL_SUCCESS)
    quietly(
        [&] { note_copy(from, {from_offset, from_offset + bytes, bytes}, to, {to_offset, to_offset + bytes, bytes}); });
  return status;
}
cl_int CL_API_CALL copy_rect(cl_command_queue queue, cl_mem from, cl_mem to, std::size_t const* from_origin,
                             std::size_t const* to_origin, std::size_t const* region, std::size_t from_row,
                             std::size_t from_slice, std::size_t to_row, std::size_t to_slice, cl_uint waits,
                             cl_event const* wait_list, cl_event* event) {
  auto const status = below.clEnqueueCopyBufferRect(queue, from, to, from_origin, to_origin, region, from_row,
                                                    from_slice, to_row, to_slice, waits, wait_list, event);
  if (status == CL_SUCCESS)
    quietly([&] {
      note_copy(from, rectangle(from_origin, region, from_row, from_slice), to,
                rectangle(to_origin, region, to_row, to_slice));
    });
  return status;
}
// What is mapped to be written is taken as written at once: it may not be used before it is unmapped.
void* CL_API_CALL map_buffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, cl_map_flags flags,
                             std::size_t offset, std::size_t bytes, cl_uint waits, cl_event const* wait_list,
                             cl_event* event, cl_int* status) {
  auto* const mapped =
      below.clEnqueueMapBuffer(queue, memory, blocking, flags, offset, bytes, waits, wait_list, event, status);
  if (mapped)
    quietly([&] {
      if (flags & CL_MAP_READ) note("R", memory, {offset, offset + bytes, bytes});
      if (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) note("W", memory, {offset, offset + bytes, bytes});
    });
  return mapped;
}
cl_int CL_API_CALL write_image(cl_command_queue queue, cl_mem to, cl_bool blocking, std::size_t const* origin,
                               std::size_t const* region, std::size_t row, std::size_t slice, void const* from,
                               cl_uint waits, cl_event const* wait_list, cl_event* event) {
  auto const status =
      below.clEnqueueWriteImage(queue, to, blocking, origin, region, row, slice, from, waits, wait_list, event);
  if (status == CL_SUCCESS) quietly([&] { note("W", to, all_of(to)); });
  return status;
}
cl_int CL_API_CALL read_image(cl_command_queue queue, cl_mem from, cl_bool blocking, std::size_t const* origin,
                              std::size_t const* region, std::size_t row, std::size_t slice, void* to, cl_uint waits,
                              cl_event const* wait_list, cl_event* event) {
  auto const status =
      below.clEnqueueReadImage(queue, from, blocking, origin, region, row, slice, to, waits, wait_list, event);
  if (status == CL_SUCCESS) quietly([&] { note("R", from, all_of(from)); });
  return status;
}

void* CL_API_CALL svm_alloc(cl_context context, cl_svm_mem_flags flags, std::size_t bytes, cl_uint alignment) {
  void* const memory = below.clSVMAlloc(context, flags, bytes, alignment);
  if (memory && (flags & CL_MEM_SVM_FINE_GRAIN_BUFFER)) quietly([&] { log().add_unmapped(memory); });
  return memory;
}
void CL_API_CALL svm_free(cl_context context, void* memory) {
  quietly([&] { log().forget(memory); });
  below.clSVMFree(context, memory);
}
cl_int CL_API_CALL svm_copy(cl_command_queue queue, cl_bool blocking, void* to, void const* from, std::size_t bytes,
                            cl_uint waits, cl_event const* wait_list, cl_event* event) {
  auto const status = below.clEnqueueSVMMemcpy(queue, blocking, to, from, bytes, waits, wait_list, event);
  if (status == CL_SUCCESS)
    quietly([&] {
      auto const source = log().place_of(from), target = log().place_of(static_cast<void const*>(to));
      if (source.bytes != 0 && target.bytes != 0)
        log().line("C" + words({source.buffer, source.offset, source.offset + bytes, bytes, target.buffer,
                                target.offset, target.offset + bytes}));
      else if (!note("R", source, bytes))
        note("W", target, bytes);
    });
  return status;
}
cl_int CL_API_CALL svm_fill(cl_command_queue queue, void* to, void const* pattern, std::size_t pattern_bytes,
                            std::size_t bytes, cl_uint waits, cl_event const* wait_list, cl_event* event) {
  auto const status = below.clEnqueueSVMMemFill(queue, to, pattern, pattern_bytes, bytes, waits, wait_list, event);
  if (status == CL_SUCCESS) quietly([&] { note("F", log().place_of(static_cast<void const*>(to)), bytes); });
  return status;
}
cl_int CL_API_CALL svm_map(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void* memory,
                           std::size_t bytes, cl_uint waits, cl_event const* wait_list, cl_event* event) {
  auto const status = below.clEnqueueSVMMap(queue, blocking, flags, memory, bytes, waits, wait_list, event);
  if (status == CL_SUCCESS)
    quietly([&] {
      auto const place = log().place_of(static_cast<void const*>(memory));
      if (flags & CL_MAP_READ) note("R", place, bytes);
      if (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) note("W", place, bytes);
    });
  return status;
}

cl_int CL_API_CALL release_memory(cl_mem memory) {
  cl_uint references = 0;
  next.clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof references, &references, nullptr);
  if (references == 1) quietly([&] { log().forget(memory); });
  return below.clReleaseMemObject(memory);
}

}  // namespace

void take_commands(cl_icd_dispatch& layer) {
  if (!settings().commands || settings().spool.empty()) return;
  below = layer;
  layer.clEnqueueNDRangeKernel = launch;
  layer.clEnqueueTask = launch_task;
  layer.clEnqueueWriteBuffer = write_buffer;
  layer.clEnqueueReadBuffer = read_buffer;
  layer.clEnqueueWriteBufferRect = write_rect;
  layer.clEnqueueReadBufferRect = read_rect;
  layer.clEnqueueFillBuffer = fill_buffer;
  layer.clEnqueueCopyBuffer = copy_buffer;
  layer.clEnqueueCopyBufferRect = copy_rect;
  layer.clEnqueueMapBuffer = map_buffer;
  layer.clEnqueueWriteImage = write_image;
  layer.clEnqueueReadImage = read_image;
  layer.clReleaseMemObject = release_memory;
  layer.clSVMAlloc = svm_alloc;
  layer.clSVMFree = svm_free;
  layer.clEnqueueSVMMemcpy = svm_copy;
  layer.clEnqueueSVMMemFill = svm_fill;
  layer.clEnqueueSVMMap = svm_map;
}

}  // namespace kernelcast::attach
