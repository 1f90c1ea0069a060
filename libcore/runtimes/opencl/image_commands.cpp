// The calls that enqueue copies, fills and maps of images.
#include <algorithm>

#include "runtimes/opencl/copies.hpp"

namespace kernelcast::opencl {

namespace {

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

}  // namespace

namespace api {

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

}  // namespace api
}  // namespace kernelcast::opencl
