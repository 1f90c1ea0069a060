// What an application enqueues, in order: kernels with their buffers, copies, fills. For the graph of the application.
//
// Method: with KERNELCAST_COMMANDS in the environment each command that was accepted becomes a line of the spool's file
// commands-PID, written at once, so that a killed application leaves whole lines. Buffers have numbers; what is done
// through a sub-buffer is done to the whole. Numbers of kernels are those of their launch files.
//
//   B buffer bytes initial                 a buffer is seen first; initial: 1 where it was made with contents
//   K number argument:buffer:offset ...    a launch, and the buffers among its arguments
//   W buffer begin end bytes               from the host; `bytes` of that range where it is a rectangle
//   R buffer begin end bytes               to the host
//   C buffer begin end bytes buffer begin end   from buffer to buffer
//   F buffer begin end bytes               filled
//
// Limits: order is that of the calls. Shared virtual memory is not seen; images count as buffers that are copied whole.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "intercept/opencl/calls.hpp"
#include "intercept/opencl/objects.hpp"
#include "intercept/opencl/passing.hpp"

namespace kernelcast::intercept {
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
    write_line(text);
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

  void forget(cl_mem memory) {
    std::lock_guard const lock(mutex_);
    places_.erase(memory);
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
    Place const place{next_buffer_++, 0, size_of(memory)};
    write_line("B " + std::to_string(place.buffer) + ' ' + std::to_string(place.bytes) + (initial ? " 1" : " 0"));
    return place;
  }

  void open_file() {
    if (process_ == getpid()) return;
    process_ = getpid();  // a fork begins its own
    places_.clear();
    next_buffer_ = 0;
    std::string const path = std::string(std::getenv("KERNELCAST_SPOOL")) + "/commands-" + std::to_string(process_);
    file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }

  void write_line(std::string text) {
    open_file();
    text += '\n';
    if (file_ != -1 && write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      close(file_);  // the disk is full: the file ends here
      file_ = -1;
    }
  }

  std::mutex mutex_;
  int process_ = 0, file_ = -1;
  std::uint64_t next_buffer_ = 0;
  std::unordered_map<cl_mem, Place> places_;
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

void note_copy(cl_mem from, Range const& range, cl_mem to, Range const& there) {
  auto const source = log().place_of(from), target = log().place_of(to);
  log().line("C" + words({source.buffer, source.offset + range.begin, source.offset + range.end, range.bytes,
                          target.buffer, target.offset + there.begin, target.offset + there.end}));
}

void note_kernel(cl_kernel kernel, std::uint64_t number) {
  std::vector<std::pair<std::size_t, cl_mem>> buffers;
  {
    std::lock_guard const lock(objects().mutex);
    auto const known = objects().kernels.find(kernel);
    if (known == objects().kernels.end()) return;
    auto const& arguments = known->second->arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].kind != Argument::Kind::memory) continue;
      cl_mem memory = nullptr;
      std::memcpy(&memory, arguments[i].content.data(), sizeof memory);
      if (memory) buffers.emplace_back(i, memory);
    }
  }
  std::string text = "K" + words({number});
  for (auto const& [argument, memory] : buffers) {
    auto const place = log().place_of(memory);
    text += ' ' + std::to_string(argument) + ':' + std::to_string(place.buffer) + ':' + std::to_string(place.offset);
  }
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
// What is mapped to be written is taken as written at once: nobody may use it before it is unmapped.
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

cl_int CL_API_CALL release_memory(cl_mem memory) {
  cl_uint references = 0;
  next.clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof references, &references, nullptr);
  if (references == 1) quietly([&] { log().forget(memory); });
  return below.clReleaseMemObject(memory);
}

}  // namespace

void take_commands(cl_icd_dispatch& layer) {
  if (!std::getenv("KERNELCAST_COMMANDS") || !std::getenv("KERNELCAST_SPOOL")) return;
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
}

}  // namespace kernelcast::intercept
