// Arrays: allocation, and copies that have an array on one side or both.
#include <algorithm>

#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/arrays.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/copies.hpp"
#include "runtimes/cudart/graphs.hpp"
#include "runtimes/cudart/timeline.hpp"

using namespace kernelcast;
using namespace kernelcast::cudart;

namespace {

Code allocate(Array** out, ChannelFormat const* format, Extent extent, unsigned flags) {
  return call([&](Allocations& allocations, Arrays& arrays, Timeline& timeline) {
    if (!out || !format || extent.width == 0) return Code::invalid_value;
    if (extent.depth != 0 && extent.height == 0 && !(flags & array_layered)) return Code::invalid_value;
    Array array{*format, extent, flags, texel_bytes(*format), nullptr};
    if (array.texel_bytes == 0) return Code::invalid_channel_descriptor;
    array.texels = static_cast<std::byte*>(allocations.add(MemoryType::device, array.slice_bytes() * array.slices()));
    if (!array.texels) return Code::memory_allocation;
    timeline.allocated();
    *out = arrays.add(array);
    return Code::success;
  });
}

// One side of a copy in three dimensions, in bytes.
struct Side {
  std::byte* begin;
  std::size_t pitch, slice;
};

Side side_of(Array const& array, Position at) {
  return {array.texels + at.z * array.slice_bytes() + at.y * array.row_bytes() + at.x * array.texel_bytes,
          array.row_bytes(), array.slice_bytes()};
}
Side side_of(PitchedPointer const& p, Position at) {
  std::size_t const slice = p.pitch * p.height;
  return {static_cast<std::byte*>(p.pointer) + at.z * slice + at.y * p.pitch + at.x, p.pitch, slice};
}

bool fits(Array const& a, Position at, Extent e) {
  return at.x + e.width <= a.extent.width && at.y + e.height <= a.rows() && at.z + e.depth <= a.slices();
}

Code copy_3d(Arrays const& arrays, Commands& commands, Copies& copies, Copy3D const& c) {
  for (auto* const array : {c.source_array, c.target_array})
    if (array && !arrays.known(array)) return Code::invalid_value;
  if ((c.source_array != nullptr) == (c.source.pointer != nullptr)) return Code::invalid_value;
  if ((c.target_array != nullptr) == (c.target.pointer != nullptr)) return Code::invalid_value;
  // Texels where an array takes part, else bytes.
  std::size_t const unit = c.source_array   ? c.source_array->texel_bytes
                           : c.target_array ? c.target_array->texel_bytes
                                            : 1;
  Extent texels = c.extent;
  if (c.source_array && !fits(*c.source_array, c.source_position, texels)) return Code::invalid_value;
  if (c.source_array && c.target_array) texels.width = texels.width * unit / c.target_array->texel_bytes;
  if (c.target_array && !fits(*c.target_array, c.target_position, texels)) return Code::invalid_value;
  auto const from = c.source_array ? side_of(*c.source_array, c.source_position) : side_of(c.source, c.source_position);
  auto const to = c.target_array ? side_of(*c.target_array, c.target_position) : side_of(c.target, c.target_position);
  Commands::Together const one_copy(commands);
  for (std::size_t z = 0; z < c.extent.depth; ++z) {
    auto const code = copies.copy_rows({to.begin + z * to.slice, to.pitch}, {from.begin + z * from.slice, from.pitch},
                                       c.extent.width * unit, c.extent.height, c.kind);
    if (code != Code::success) return code;
  }
  return Code::success;
}

// Rows of bytes from byte `x` of row `y` on; `to_array` says which way.
Code copy_2d(Arrays const& arrays, Copies& copies, Array* array, std::size_t x, std::size_t y, void* other,
             std::size_t pitch, std::size_t bytes, std::size_t rows, CopyKind kind, bool to_array) {
  if (!arrays.known(array) || x + bytes > array->row_bytes() || y + rows > array->rows()) return Code::invalid_value;
  Rows2D const there{array->texels + y * array->row_bytes() + x, array->row_bytes()}, here{other, pitch};
  return to_array ? copies.copy_rows(there, here, bytes, rows, kind) : copies.copy_rows(here, there, bytes, rows, kind);
}

// Bytes of one after the other row.
Code copy_1d(Arrays const& arrays, Copies& copies, Array* array, std::size_t x, std::size_t y, void* other,
             std::size_t bytes, CopyKind kind, bool to_array) {
  if (!arrays.known(array)) return Code::invalid_value;
  std::size_t const begin = y * array->row_bytes() + x;
  if (begin + bytes > array->slice_bytes()) return Code::invalid_value;
  auto* const there = array->texels + begin;
  return to_array ? copies.copy(there, other, bytes, kind) : copies.copy(other, there, bytes, kind);
}

void* mutable_pointer(void const* pointer) {
  return const_cast<void*>(pointer);
}

}  // namespace

KERNELCAST_CUDA_EXPORT ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, ChannelKind kind) {
  return {x, y, z, w, kind};
}

KERNELCAST_CUDA_EXPORT Code cudaMallocArray(Array** out, ChannelFormat const* format, std::size_t width,
                                            std::size_t height, unsigned flags) {
  return allocate(out, format, {width, height, 0}, flags);
}
KERNELCAST_CUDA_EXPORT Code cudaMalloc3DArray(Array** out, ChannelFormat const* format, Extent extent, unsigned flags) {
  return allocate(out, format, extent, flags);
}
KERNELCAST_CUDA_EXPORT Code cudaFreeArray(Array* array) {
  return call([&](Arrays& arrays, Allocations& allocations) {
    if (!array) return Code::success;
    if (!arrays.known(array)) return Code::invalid_value;
    allocations.remove(array->texels, MemoryType::device);
    arrays.remove(array);
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaArrayGetInfo(ChannelFormat* format, Extent* extent, unsigned* flags, Array* array) {
  return call([&](Arrays& arrays) {
    if (!arrays.known(array)) return Code::invalid_value;
    if (format) *format = array->format;
    if (extent) *extent = array->extent;
    if (flags) *flags = array->flags;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaGetChannelDesc(ChannelFormat* format, Array const* array) {
  return cudaArrayGetInfo(format, nullptr, nullptr, const_cast<Array*>(array));
}

KERNELCAST_CUDA_EXPORT Code cudaMemcpy3D(Copy3D const* c) {
  return call([&](Arrays& arrays, Commands& commands, Copies& copies) {
    return c ? copy_3d(arrays, commands, copies, *c) : Code::invalid_value;
  });
}
KERNELCAST_CUDA_ALIAS(cudaMemcpy3D, cudaMemcpy3D_ptds)
KERNELCAST_CUDA_EXPORT Code cudaMemcpy3DAsync(Copy3D const* c, Stream stream) {
  if (!c) return remembered(Code::invalid_value);
  return on_stream(stream, NodeType::copy, [copy = *c] { return cudaMemcpy3D(&copy); });
}
KERNELCAST_CUDA_ALIAS(cudaMemcpy3DAsync, cudaMemcpy3DAsync_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaMemcpy3DPeer(Copy3DPeer const* c) {
  if (!c) return remembered(Code::invalid_value);
  Copy3D const plain{c->source_array,    c->source_position, c->source, c->target_array,
                     c->target_position, c->target,          c->extent, CopyKind::by_address};
  return cudaMemcpy3D(&plain);
}
KERNELCAST_CUDA_ALIAS(cudaMemcpy3DPeer, cudaMemcpy3DPeer_ptds)
KERNELCAST_CUDA_EXPORT Code cudaMemcpy3DPeerAsync(Copy3DPeer const* c, Stream stream) {
  if (!c) return remembered(Code::invalid_value);
  return on_stream(stream, NodeType::copy, [copy = *c] { return cudaMemcpy3DPeer(&copy); });
}
KERNELCAST_CUDA_ALIAS(cudaMemcpy3DPeerAsync, cudaMemcpy3DPeerAsync_ptsz)

KERNELCAST_CUDA_EXPORT Code cudaMemcpy2DToArray(Array* to, std::size_t x, std::size_t y, void const* from,
                                                std::size_t pitch, std::size_t width, std::size_t height,
                                                CopyKind kind) {
  return call([&](Arrays& arrays, Copies& copies) {
    return copy_2d(arrays, copies, to, x, y, mutable_pointer(from), pitch, width, height, kind, true);
  });
}
KERNELCAST_CUDA_ALIAS(cudaMemcpy2DToArray, cudaMemcpy2DToArray_ptds)
KERNELCAST_CUDA_EXPORT Code cudaMemcpy2DToArrayAsync(Array* to, std::size_t x, std::size_t y, void const* from,
                                                     std::size_t pitch, std::size_t width, std::size_t height,
                                                     CopyKind kind, Stream stream) {
  return on_stream(stream, NodeType::copy,
                   [=] { return cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind); });
}
KERNELCAST_CUDA_ALIAS(cudaMemcpy2DToArrayAsync, cudaMemcpy2DToArrayAsync_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaMemcpy2DFromArray(void* to, std::size_t pitch, Array const* from, std::size_t x,
                                                  std::size_t y, std::size_t width, std::size_t height, CopyKind kind) {
  return call([&](Arrays& arrays, Copies& copies) {
    return copy_2d(arrays, copies, const_cast<Array*>(from), x, y, to, pitch, width, height, kind, false);
  });
}
KERNELCAST_CUDA_ALIAS(cudaMemcpy2DFromArray, cudaMemcpy2DFromArray_ptds)
KERNELCAST_CUDA_EXPORT Code cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, Array const* from, std::size_t x,
                                                       std::size_t y, std::size_t width, std::size_t height,
                                                       CopyKind kind, Stream stream) {
  return on_stream(stream, NodeType::copy,
                   [=] { return cudaMemcpy2DFromArray(to, pitch, from, x, y, width, height, kind); });
}
KERNELCAST_CUDA_ALIAS(cudaMemcpy2DFromArrayAsync, cudaMemcpy2DFromArrayAsync_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaMemcpy2DArrayToArray(Array* to, std::size_t to_x, std::size_t to_y, Array const* from,
                                                     std::size_t x, std::size_t y, std::size_t width,
                                                     std::size_t height, CopyKind kind) {
  return call([&](Arrays& arrays, Copies& copies) {
    if (!arrays.known(to) || to_x + width > to->row_bytes() || to_y + height > to->rows()) return Code::invalid_value;
    return copy_2d(arrays, copies, const_cast<Array*>(from), x, y, to->texels + to_y * to->row_bytes() + to_x,
                   to->row_bytes(), width, height, kind, false);
  });
}
KERNELCAST_CUDA_ALIAS(cudaMemcpy2DArrayToArray, cudaMemcpy2DArrayToArray_ptds)

KERNELCAST_CUDA_EXPORT Code cudaMemcpyToArray(Array* to, std::size_t x, std::size_t y, void const* from,
                                              std::size_t bytes, CopyKind kind) {
  return call([&](Arrays& arrays, Copies& copies) {
    return copy_1d(arrays, copies, to, x, y, mutable_pointer(from), bytes, kind, true);
  });
}
KERNELCAST_CUDA_ALIAS(cudaMemcpyToArray, cudaMemcpyToArray_ptds)
KERNELCAST_CUDA_EXPORT Code cudaMemcpyToArrayAsync(Array* to, std::size_t x, std::size_t y, void const* from,
                                                   std::size_t bytes, CopyKind kind, Stream stream) {
  return on_stream(stream, NodeType::copy, [=] { return cudaMemcpyToArray(to, x, y, from, bytes, kind); });
}
KERNELCAST_CUDA_ALIAS(cudaMemcpyToArrayAsync, cudaMemcpyToArrayAsync_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaMemcpyFromArray(void* to, Array const* from, std::size_t x, std::size_t y,
                                                std::size_t bytes, CopyKind kind) {
  return call([&](Arrays& arrays, Copies& copies) {
    return copy_1d(arrays, copies, const_cast<Array*>(from), x, y, to, bytes, kind, false);
  });
}
KERNELCAST_CUDA_ALIAS(cudaMemcpyFromArray, cudaMemcpyFromArray_ptds)
KERNELCAST_CUDA_EXPORT Code cudaMemcpyFromArrayAsync(void* to, Array const* from, std::size_t x, std::size_t y,
                                                     std::size_t bytes, CopyKind kind, Stream stream) {
  return on_stream(stream, NodeType::copy, [=] { return cudaMemcpyFromArray(to, from, x, y, bytes, kind); });
}
KERNELCAST_CUDA_ALIAS(cudaMemcpyFromArrayAsync, cudaMemcpyFromArrayAsync_ptsz)
