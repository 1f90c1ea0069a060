// The calls that enqueue: copies, fills, maps, kernels, and what waits.
#include <algorithm>
#include <cstring>

#include "runtimes/opencl/events.hpp"
#include "runtimes/opencl/objects.hpp"

namespace kernelcast::opencl {

namespace {

using Memory = Held<_cl_mem>;

_cl_command_queue& queue_of(cl_command_queue given, std::initializer_list<_cl_mem const*> memory = {}) {
  auto& queue = known_queue(given);
  for (auto const* one : memory) require(one->context.get() == queue.context.get(), CL_INVALID_CONTEXT);
  return queue;
}

// Whether the host may read, or write, so.
void require_access(_cl_mem const& memory, bool reads, bool writes) {
  auto const refuses = [&](cl_mem_flags flags) { return (memory.flags & flags) != 0; };
  require(!reads || !refuses(CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS), CL_INVALID_OPERATION);
  require(!writes || !refuses(CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS), CL_INVALID_OPERATION);
}

void check_map(_cl_mem const& memory, cl_map_flags flags) {
  constexpr cl_map_flags all = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
  bool const anew = (flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0;
  require((flags & ~all) == 0 && (!anew || flags == CL_MAP_WRITE_INVALIDATE_REGION), CL_INVALID_VALUE);
  require_access(memory, (flags & CL_MAP_READ) != 0, anew || (flags & CL_MAP_WRITE) != 0);
}

bool inside(std::size_t offset, std::size_t bytes, std::size_t all) {
  return offset <= all && bytes <= all - offset;
}

// Lines of bytes in three dimensions.
struct Box {
  std::byte* begin;
  std::size_t row, slice;
  std::byte* line(std::size_t y, std::size_t z) const { return begin + y * row + z * slice; }
};
void copy_box(Box const& to, Box const& from, std::size_t bytes, std::size_t rows, std::size_t slices) {
  // Copies within one object may not overlap.
  for (std::size_t z = 0; z < slices; ++z)
    for (std::size_t y = 0; y < rows; ++y) std::memmove(to.line(y, z), from.line(y, z), bytes);
}

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
void check_region(std::size_t const* region) {
  require(region && region[0] > 0 && region[1] > 0 && region[2] > 0, CL_INVALID_VALUE);
}

// Whether two boxes of bytes of the same layout meet: a line of one and a line of the other have bytes in common.
bool meet(Box const& a, Box const& b, std::size_t const* region) {
  auto const last = [&](Box const& box) { return box.line(region[1] - 1, region[2] - 1) + region[0]; };
  if (last(a) <= b.begin || last(b) <= a.begin) return false;
  for (std::size_t z = 0; z < region[2]; ++z)
    for (std::size_t y = 0; y < region[1]; ++y) {
      auto const* const line = a.line(y, z);
      // The lines of b that may meet it: those that begin less than a line before it, or within it.
      for (std::size_t w = 0; w < region[2]; ++w)
        for (std::size_t x = 0; x < region[1]; ++x)
          if (auto const* const other = b.line(x, w); other < line + region[0] && line < other + region[0]) return true;
    }
  return false;
}

// Texels of an image; host memory is laid out by pitches, 0 for those of the region.
Box box_of(_cl_mem const& image, std::size_t const* origin) {
  std::size_t const row = image.row_bytes, slice = image.type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 0 : image.slice_bytes;
  return {image.data() + origin[0] * image.texel_bytes + origin[1] * row + origin[2] * slice, row, slice};
}
void check_texels(_cl_mem const& image, std::size_t const* origin, std::size_t const* region) {
  require(origin != nullptr, CL_INVALID_VALUE);
  check_region(region);
  auto const all = image.extent();
  for (std::size_t d = 0; d < 3; ++d) require(inside(origin[d], region[d], all[d]), CL_INVALID_VALUE);
}
Box host_box(_cl_mem const& image, void* pointer, std::size_t const* region, std::size_t row, std::size_t slice) {
  bool const has_slices = image.type == CL_MEM_OBJECT_IMAGE3D || image.type == CL_MEM_OBJECT_IMAGE1D_ARRAY ||
                          image.type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
  require(slice == 0 || has_slices, CL_INVALID_VALUE);
  if (image.type == CL_MEM_OBJECT_IMAGE1D_ARRAY && slice) row = slice, slice = 0;
  if (row == 0) row = region[0] * image.texel_bytes;
  if (slice == 0) slice = row * region[1];
  require(row >= region[0] * image.texel_bytes && slice >= row * region[1], CL_INVALID_VALUE);
  return {static_cast<std::byte*>(pointer), row, slice};
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
          copy_box(to_host ? b : a, to_host ? a : b, region[0], region[1], region[2]);
          return CL_SUCCESS;
        });
  });
}

struct ImageCall {
  std::size_t const *origin, *region;
  std::size_t row, slice;
};
cl_int transfer_image(cl_command_queue given, cl_mem image, bool to_host, cl_bool blocking, ImageCall const& asked,
                      void* pointer, cl_uint waits, cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto& memory = known_image(image);
    auto& queue = queue_of(given, {&memory});
    require(pointer != nullptr, CL_INVALID_VALUE);
    require_access(memory, to_host, !to_host);
    check_texels(memory, asked.origin, asked.region);
    auto const host = host_box(memory, pointer, asked.region, asked.row, asked.slice);
    auto const here = box_of(memory, asked.origin);
    Range const region{asked.region[0] * memory.texel_bytes, asked.region[1], asked.region[2]};
    return enqueue(lock,
                   {&queue, static_cast<cl_command_type>(to_host ? CL_COMMAND_READ_IMAGE : CL_COMMAND_WRITE_IMAGE),
                    waits, list, event, blocking != CL_FALSE},
                   [held = Memory(&memory), to_host, here, host, region] {
                     copy_box(to_host ? host : here, to_host ? here : host, region[0], region[1], region[2]);
                     return CL_SUCCESS;
                   });
  });
}

// The pattern over and over.
void fill(std::byte* to, std::size_t bytes, std::vector<std::byte> const& pattern) {
  for (std::size_t i = 0; i < bytes; i += pattern.size())
    std::memcpy(to + i, pattern.data(), std::min(pattern.size(), bytes - i));
}
std::vector<std::byte> pattern_of(void const* pattern, std::size_t bytes) {
  require(pattern && bytes > 0 && bytes <= 128 && (bytes & (bytes - 1)) == 0, CL_INVALID_VALUE);
  auto const* const from = static_cast<std::byte const*>(pattern);
  return {from, from + bytes};
}

template <class T>
std::vector<std::byte> bytes_of(T const* values, std::size_t count) {
  std::vector<std::byte> out(count * sizeof(T));
  std::memcpy(out.data(), values, out.size());
  return out;
}

template <class T>
T to_integer(float value, double scale, double low, double high) {
  return static_cast<T>(std::clamp(static_cast<double>(value) * scale, low, high) + (value < 0 ? -0.5 : 0.5));
}
// One texel of a fill colour: four floats, or four integers.
std::vector<std::byte> texel_of(_cl_mem const& image, void const* color) {
  float real[4];
  std::int32_t whole[4];
  std::memcpy(real, color, sizeof real);
  std::memcpy(whole, color, sizeof whole);
  auto const order = image.format.image_channel_order;
  std::vector<int> places = order == CL_BGRA   ? std::vector{2, 1, 0, 3}
                            : order == CL_ARGB ? std::vector{3, 0, 1, 2}
                            : order == CL_A    ? std::vector{3}
                            : order == CL_RA   ? std::vector{0, 3}
                                               : std::vector{0, 1, 2, 3};
  std::vector<std::byte> out;
  auto const put = [&](auto value) {
    auto const bytes = bytes_of(&value, 1);
    out.insert(out.end(), bytes.begin(), bytes.end());
  };
  for (int const p : places) {
    if (out.size() == image.texel_bytes) break;
    switch (image.format.image_channel_data_type) {
      case CL_UNORM_INT8:
        put(to_integer<std::uint8_t>(real[p], 255, 0, 255));
        break;
      case CL_UNORM_INT16:
        put(to_integer<std::uint16_t>(real[p], 65535, 0, 65535));
        break;
      case CL_SNORM_INT8:
        put(to_integer<std::int8_t>(real[p], 127, -127, 127));
        break;
      case CL_SNORM_INT16:
        put(to_integer<std::int16_t>(real[p], 32767, -32767, 32767));
        break;
      case CL_SIGNED_INT8:
        put(static_cast<std::int8_t>(std::clamp(whole[p], -128, 127)));
        break;
      case CL_UNSIGNED_INT8:
        put(static_cast<std::uint8_t>(std::min(static_cast<std::uint32_t>(whole[p]), 255u)));
        break;
      case CL_SIGNED_INT16:
        put(static_cast<std::int16_t>(std::clamp(whole[p], -32768, 32767)));
        break;
      case CL_UNSIGNED_INT16:
        put(static_cast<std::uint16_t>(std::min(static_cast<std::uint32_t>(whole[p]), 65535u)));
        break;
      case CL_HALF_FLOAT:
        put(emu::half_of_float(real[p]));
        break;
      case CL_FLOAT:
        put(real[p]);
        break;
      default:
        put(whole[p]);
    }
  }
  return out;
}

cl_int nothing() {
  return CL_SUCCESS;
}

cl_int wait_command(cl_command_queue given, cl_command_type type, cl_uint waits, cl_event const* list, cl_event* event,
                    Enqueued::Order order) {
  return call(
      [&](Lock& lock) { return enqueue(lock, {&queue_of(given), type, waits, list, event, false, order}, nothing); });
}

void require_allocation(void const* pointer, std::size_t bytes) {
  auto const [begin, all] = allocation_of(pointer);
  require(begin != 0 && inside(reinterpret_cast<std::uint64_t>(pointer) - begin, bytes, all), CL_INVALID_VALUE);
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
                     fill(held->data() + offset, bytes, with);
                     return CL_SUCCESS;
                   });
  });
}

cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking, std::size_t const* origin,
                                      std::size_t const* region, std::size_t row, std::size_t slice, void* pointer,
                                      cl_uint waits, cl_event const* list, cl_event* event) {
  return transfer_image(queue, image, true, blocking, {origin, region, row, slice}, pointer, waits, list, event);
}
cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                       std::size_t const* origin, std::size_t const* region, std::size_t row,
                                       std::size_t slice, void const* pointer, cl_uint waits, cl_event const* list,
                                       cl_event* event) {
  return transfer_image(queue, image, false, blocking, {origin, region, row, slice}, const_cast<void*>(pointer), waits,
                        list, event);
}

cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue given, cl_mem source, cl_mem target, std::size_t const* from,
                                      std::size_t const* to, std::size_t const* asked, cl_uint waits,
                                      cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto &a = known_image(source), &b = known_image(target);
    auto& queue = queue_of(given, {&a, &b});
    require(a.format.image_channel_order == b.format.image_channel_order &&
                a.format.image_channel_data_type == b.format.image_channel_data_type,
            CL_IMAGE_FORMAT_MISMATCH);
    check_texels(a, from, asked);
    check_texels(b, to, asked);
    Range const region{asked[0] * a.texel_bytes, asked[1], asked[2]};
    require(!meet(box_of(a, from), box_of(b, to), region.data()), CL_MEM_COPY_OVERLAP);
    return enqueue(lock, {&queue, CL_COMMAND_COPY_IMAGE, waits, list, event},
                   [x = Memory(&a), y = Memory(&b), here = box_of(a, from), there = box_of(b, to), region] {
                     copy_box(there, here, region[0], region[1], region[2]);
                     return CL_SUCCESS;
                   });
  });
}

cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue given, cl_mem source, cl_mem target,
                                              std::size_t const* from, std::size_t const* asked, std::size_t to,
                                              cl_uint waits, cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto &a = known_image(source), &b = known_buffer(target);
    auto& queue = queue_of(given, {&a, &b});
    check_texels(a, from, asked);
    Range const region{asked[0] * a.texel_bytes, asked[1], asked[2]};
    require(inside(to, region[0] * region[1] * region[2], b.bytes), CL_INVALID_VALUE);
    return enqueue(lock, {&queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, waits, list, event},
                   [x = Memory(&a), y = Memory(&b), here = box_of(a, from), to, region] {
                     copy_box({y->data() + to, region[0], region[0] * region[1]}, here, region[0], region[1],
                              region[2]);
                     return CL_SUCCESS;
                   });
  });
}

cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue given, cl_mem source, cl_mem target, std::size_t from,
                                              std::size_t const* to, std::size_t const* asked, cl_uint waits,
                                              cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto &a = known_buffer(source), &b = known_image(target);
    auto& queue = queue_of(given, {&a, &b});
    check_texels(b, to, asked);
    Range const region{asked[0] * b.texel_bytes, asked[1], asked[2]};
    require(inside(from, region[0] * region[1] * region[2], a.bytes), CL_INVALID_VALUE);
    return enqueue(lock, {&queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, waits, list, event},
                   [x = Memory(&a), y = Memory(&b), there = box_of(b, to), from, region] {
                     copy_box(there, {x->data() + from, region[0], region[0] * region[1]}, region[0], region[1],
                              region[2]);
                     return CL_SUCCESS;
                   });
  });
}

cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue given, cl_mem image, void const* color,
                                      std::size_t const* origin, std::size_t const* asked, cl_uint waits,
                                      cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto& memory = known_image(image);
    auto& queue = queue_of(given, {&memory});
    require(color != nullptr, CL_INVALID_VALUE);
    check_texels(memory, origin, asked);
    Range const region{asked[0] * memory.texel_bytes, asked[1], asked[2]};
    return enqueue(lock, {&queue, CL_COMMAND_FILL_IMAGE, waits, list, event},
                   [held = Memory(&memory), there = box_of(memory, origin), texel = texel_of(memory, color), region] {
                     for (std::size_t z = 0; z < region[2]; ++z)
                       for (std::size_t y = 0; y < region[1]; ++y) fill(there.line(y, z), region[0], texel);
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

void* CL_API_CALL clEnqueueMapImage(cl_command_queue given, cl_mem image, cl_bool blocking, cl_map_flags flags,
                                    std::size_t const* origin, std::size_t const* region, std::size_t* row,
                                    std::size_t* slice, cl_uint waits, cl_event const* list, cl_event* event,
                                    cl_int* error) {
  void* out = nullptr;
  cl_int const status = call([&](Lock& lock) {
    auto& memory = known_image(image);
    auto& queue = queue_of(given, {&memory});
    check_texels(memory, origin, region);
    bool const has_slices = memory.type == CL_MEM_OBJECT_IMAGE3D || memory.type == CL_MEM_OBJECT_IMAGE1D_ARRAY ||
                            memory.type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    require(row && (slice || !has_slices), CL_INVALID_VALUE);
    check_map(memory, flags);
    cl_int const ended = enqueue(lock, {&queue, CL_COMMAND_MAP_IMAGE, waits, list, event, blocking != CL_FALSE},
                                 [held = Memory(&memory)] { return CL_SUCCESS; });
    out = box_of(memory, origin).begin;
    memory.maps.push_back(out);
    *row = memory.row_bytes;
    if (slice) *slice = has_slices ? memory.slice_bytes : 0;
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
    cl_int const status = enqueue(lock, {&queue, CL_COMMAND_UNMAP_MEM_OBJECT, waits, list, event},
                                  [held = Memory(&memory)] { return CL_SUCCESS; });
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

// ---------------------------------------------------------------- shared virtual memory

cl_int CL_API_CALL clEnqueueSVMFree(cl_command_queue given, cl_uint count, void* pointers[],
                                    void(CL_CALLBACK* function)(cl_command_queue, cl_uint, void*[], void*), void* data,
                                    cl_uint waits, cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto& queue = queue_of(given);
    require(count > 0 && pointers, CL_INVALID_VALUE);
    std::vector<void*> all(pointers, pointers + count);
    return enqueue(lock, {&queue, CL_COMMAND_SVM_FREE, waits, list, event}, [=]() {
      shared().due.emplace_back([=]() mutable {
        if (function) return function(given, count, all.data(), data);
        for (auto* pointer : all) api::clSVMFree(nullptr, pointer);
      });
      return CL_SUCCESS;
    });
  });
}

cl_int CL_API_CALL clEnqueueSVMMemcpy(cl_command_queue given, cl_bool blocking, void* to, void const* from,
                                      std::size_t bytes, cl_uint waits, cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto& queue = queue_of(given);
    require(to && from, CL_INVALID_VALUE);
    auto const *const a = static_cast<std::byte const*>(to), *const b = static_cast<std::byte const*>(from);
    require(a + bytes <= b || b + bytes <= a, CL_MEM_COPY_OVERLAP);
    return enqueue(lock, {&queue, CL_COMMAND_SVM_MEMCPY, waits, list, event, blocking != CL_FALSE}, [=] {
      std::memmove(to, from, bytes);
      return CL_SUCCESS;
    });
  });
}

cl_int CL_API_CALL clEnqueueSVMMemFill(cl_command_queue given, void* to, void const* pattern, std::size_t pattern_bytes,
                                       std::size_t bytes, cl_uint waits, cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto& queue = queue_of(given);
    auto with = pattern_of(pattern, pattern_bytes);
    require(to && bytes % pattern_bytes == 0 && reinterpret_cast<std::uint64_t>(to) % pattern_bytes == 0,
            CL_INVALID_VALUE);
    require_allocation(to, bytes);
    return enqueue(lock, {&queue, CL_COMMAND_SVM_MEMFILL, waits, list, event}, [to, bytes, with = std::move(with)] {
      fill(static_cast<std::byte*>(to), bytes, with);
      return CL_SUCCESS;
    });
  });
}

cl_int CL_API_CALL clEnqueueSVMMap(cl_command_queue given, cl_bool blocking, cl_map_flags, void* pointer,
                                   std::size_t bytes, cl_uint waits, cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto& queue = queue_of(given);
    require(bytes > 0, CL_INVALID_VALUE);
    require_allocation(pointer, bytes);
    return enqueue(lock, {&queue, CL_COMMAND_SVM_MAP, waits, list, event, blocking != CL_FALSE}, nothing);
  });
}
cl_int CL_API_CALL clEnqueueSVMUnmap(cl_command_queue given, void* pointer, cl_uint waits, cl_event const* list,
                                     cl_event* event) {
  return call([&](Lock& lock) {
    auto& queue = queue_of(given);
    require_allocation(pointer, 1);
    return enqueue(lock, {&queue, CL_COMMAND_SVM_UNMAP, waits, list, event}, nothing);
  });
}
cl_int CL_API_CALL clEnqueueSVMMigrateMem(cl_command_queue given, cl_uint count, void const** pointers,
                                          std::size_t const*, cl_mem_migration_flags, cl_uint waits,
                                          cl_event const* list, cl_event* event) {
  return call([&](Lock& lock) {
    auto& queue = queue_of(given);
    require(count > 0 && pointers, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < count; ++i) require_allocation(pointers[i], 1);
    return enqueue(lock, {&queue, CL_COMMAND_SVM_MIGRATE_MEM, waits, list, event}, nothing);
  });
}

}  // namespace api
}  // namespace kernelcast::opencl
