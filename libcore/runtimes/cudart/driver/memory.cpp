// Memory: allocations, copies, fills, what is known of a pointer.
#include <algorithm>
#include <cstring>
#include <vector>

#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/arrays.hpp"
#include "runtimes/cudart/commands.hpp"
#include "runtimes/cudart/copies.hpp"
#include "runtimes/cudart/driver/call.hpp"
#include "runtimes/cudart/driver/copy_3d.hpp"
#include "runtimes/cudart/graphs.hpp"

using namespace kernelcast;
using namespace kernelcast::driver;
using cudart::Allocations;
using cudart::Copies;
using cudart::CopyKind;
using cudart::MemoryType;
using cudart::NodeType;
using cudart::on_stream;

KERNELCAST_OF_RUNTIME(cudaMalloc, void**, std::size_t);
KERNELCAST_OF_RUNTIME(cudaMallocManaged, void**, std::size_t, unsigned);
KERNELCAST_OF_RUNTIME(cudaMallocPitch, void**, std::size_t*, std::size_t, std::size_t);
KERNELCAST_OF_RUNTIME(cudaMallocAsync, void**, std::size_t, Stream);
KERNELCAST_OF_RUNTIME(cudaMemcpy, void*, void const*, std::size_t, CopyKind);
KERNELCAST_OF_RUNTIME(cudaMemcpyAsync, void*, void const*, std::size_t, CopyKind, Stream);
KERNELCAST_OF_RUNTIME(cudaMemcpy3D, cudart::Copy3D const*);
KERNELCAST_OF_RUNTIME(cudaMemcpy3DAsync, cudart::Copy3D const*, Stream);

namespace {

template <class Runtime>
Code when_in_context(Runtime const& runtime) {
  return current_context() ? of_runtime_call(runtime) : no_context();
}

template <class... Stream>
Code allocate(Pointer* out, std::size_t bytes, Code (*by)(void**, std::size_t, Stream...), Stream... stream) {
  if (!out || bytes == 0) return Code::invalid_value;
  return when_in_context([&] { return by(reinterpret_cast<void**>(out), bytes, stream...); });
}

Code copy(void* to, void const* from, std::size_t bytes, CopyKind kind) {
  return when_in_context([&] { return cudaMemcpy(to, from, bytes, kind); });
}
Code copy(void* to, void const* from, std::size_t bytes, CopyKind kind, Stream stream) {
  return when_in_context([&] { return cudaMemcpyAsync(to, from, bytes, kind, stream); });
}

// `rows` rows of `count` values.
template <class Value>
Code fill(Pointer to, std::size_t pitch, Value value, std::size_t count, std::size_t rows) {
  if (to % sizeof(Value) != 0) return Code::invalid_value;
  return cudart::call([&](Copies& copies, cudart::Commands& commands) {
    if constexpr (sizeof(Value) == 1) return copies.fill_rows({pointer_of(to), pitch}, value, count, rows);
    std::vector<Value> const row(count, value);
    auto const one_row = row.size() * sizeof(Value);
    if (rows > 1 && one_row > pitch) return Code::invalid_value;
    cudart::Commands::Together const one_fill(commands);
    for (std::size_t y = 0; y < rows; ++y) {
      auto const code = copies.copy(pointer_of(to + y * pitch), row.data(), one_row, CopyKind::host_to_device);
      if (code != Code::success) return code;
    }
    return Code::success;
  });
}
template <class Value>
Code fill(Pointer to, std::size_t pitch, Value value, std::size_t count, std::size_t rows, Stream const* stream) {
  return when_in_context([=] {
    auto const work = [=] { return fill(to, pitch, value, count, rows); };
    return stream ? on_stream(*stream, NodeType::fill, work) : work();
  });
}

Code copy_3d(Copy3D const* given, Stream const* stream) {
  return when_in_context([&] {
    cudart::Copy3D made{};
    auto const code = cudart::call(
        [&](cudart::Arrays& arrays) { return given ? of_driver(arrays, *given, made) : Code::invalid_value; });
    if (code != Code::success) return code;
    return stream ? cudaMemcpy3DAsync(&made, *stream) : cudaMemcpy3D(&made);
  });
}

Copy3D of_plane(Copy2D const& c) {
  Copy3D out;
  static_cast<Copy3D::End&>(out.source) = {c.source_x,      c.source_y,    0, 0, c.source_kind, c.source_host,
                                           c.source_device, c.source_array};
  out.source.pitch = c.source_pitch;
  static_cast<Copy3D::End&>(out.target) = {c.target_x,      c.target_y,    0, 0, c.target_kind, c.target_host,
                                           c.target_device, c.target_array};
  out.target.pitch = c.target_pitch;
  out.width_bytes = c.width_bytes;
  out.height = c.height;
  out.depth = 1;
  return out;
}

// Of a copy in one row.
Copy3D of_row(std::size_t bytes) {
  Copy3D out;
  out.width_bytes = bytes;
  out.height = out.depth = 1;
  return out;
}
void put_array(Copy3D::End& end, Array* array, std::size_t offset) {
  end.kind = MemoryKind::array;
  end.array = array;
  end.x = offset;
}

// CUpointer_attribute
enum class PointerAttribute : int {
  context = 1,
  memory_type,
  device_pointer,
  host_pointer,
  sync_memory_operations = 6,
  buffer_id,
  is_managed,
  device_ordinal,
  range_start = 11,
  range_size,
  mapped,
};

template <class T>
void write(void* data, T value) {
  std::memcpy(data, &value, sizeof value);
}

// False where nothing is known of the address.
Code attribute_of(Allocations& allocations, PointerAttribute attribute, Pointer address, void* data) {
  auto const* const found = allocations.holding(pointer_of(address)).second;
  bool const is_symbol = !found && allocations.holds(pointer_of(address), 1);
  if (!found && !is_symbol) return Code::invalid_value;
  auto const type = found ? found->type : MemoryType::device;
  auto const device = found ? found->device : cudart::current_device();
  switch (attribute) {
    case PointerAttribute::context:
      write(data, current_context());
      break;
    case PointerAttribute::memory_type:
      write(data, type == MemoryType::host ? MemoryKind::host : MemoryKind::device);
      break;
    case PointerAttribute::device_pointer:
      write(data, address);
      break;
    case PointerAttribute::host_pointer:
      write(data, type == MemoryType::device ? nullptr : pointer_of(address));
      break;
    case PointerAttribute::sync_memory_operations:
      write(data, 0);
      break;
    case PointerAttribute::buffer_id:
      write(data, found ? static_cast<unsigned long long>(found->serial) : 0ull);
      break;
    case PointerAttribute::is_managed:
      write(data, type == MemoryType::managed ? 1 : 0);
      break;
    case PointerAttribute::device_ordinal:
      write(data, device);
      break;
    case PointerAttribute::range_start:
      write(data, allocations.range_of(pointer_of(address)).first);
      break;
    case PointerAttribute::range_size:
      write(data, static_cast<std::size_t>(allocations.range_of(pointer_of(address)).second));
      break;
    case PointerAttribute::mapped:
      write(data, 1);
      break;
    default:
      return cudart::unsupported("this attribute of cuPointerGetAttribute");
  }
  return Code::success;
}

}  // namespace

// ---------------------------------------------------------------- allocation

KERNELCAST_CUDA_EXPORT Code cuMemAlloc_v2(Pointer* out, std::size_t bytes) {
  return allocate(out, bytes, cudaMalloc);
}
KERNELCAST_CUDA_EXPORT Code cuMemAllocManaged(Pointer* out, std::size_t bytes, unsigned flags) {
  if (!out || bytes == 0) return Code::invalid_value;
  return when_in_context([&] { return cudaMallocManaged(reinterpret_cast<void**>(out), bytes, flags); });
}
KERNELCAST_CUDA_EXPORT Code cuMemAllocPitch_v2(Pointer* out, std::size_t* pitch, std::size_t width_bytes,
                                               std::size_t height, unsigned) {
  if (!out || !pitch || width_bytes == 0 || height == 0) return Code::invalid_value;
  return when_in_context([&] { return cudaMallocPitch(reinterpret_cast<void**>(out), pitch, width_bytes, height); });
}
KERNELCAST_CUDA_EXPORT Code cuMemAllocAsync(Pointer* out, std::size_t bytes, Stream stream) {
  return allocate(out, bytes, cudaMallocAsync, stream);
}
KERNELCAST_CUDA_ALIAS(cuMemAllocAsync, cuMemAllocAsync_ptsz)
KERNELCAST_CUDA_EXPORT Code cuMemAllocFromPoolAsync(Pointer* out, std::size_t bytes, void*, Stream stream) {
  if (!out || bytes == 0) return Code::invalid_value;
  // Its pool tells the device: no context need be current.
  return of_runtime_call([&] { return cudaMallocAsync(reinterpret_cast<void**>(out), bytes, stream); });
}
KERNELCAST_CUDA_ALIAS(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz)
KERNELCAST_CUDA_EXPORT Code cuMemGetAddressRange_v2(Pointer* begin, std::size_t* bytes, Pointer address) {
  return call_in_context([&](Allocations& allocations) {
    auto const [at, size] = allocations.range_of(pointer_of(address));
    if (size == 0) return Code::symbol_not_found;
    if (begin) *begin = at;
    if (bytes) *bytes = size;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuPointerGetAttribute(void* data, PointerAttribute attribute, Pointer address) {
  return call_in_context([&](Allocations& allocations) {
    return data ? attribute_of(allocations, attribute, address, data) : Code::invalid_value;
  });
}
// Of a pointer that is unknown all are null.
KERNELCAST_CUDA_EXPORT Code cuPointerGetAttributes(unsigned count, PointerAttribute* attributes, void** data,
                                                   Pointer address) {
  return call_in_context([&](Allocations& allocations) {
    if (!attributes || !data) return Code::invalid_value;
    for (unsigned a = 0; a < count; ++a) {
      if (attribute_of(allocations, attributes[a], address, data[a]) == Code::success) continue;
      switch (attributes[a]) {
        case PointerAttribute::device_ordinal:
          write(data[a], -2);
          break;
        case PointerAttribute::memory_type:
        case PointerAttribute::is_managed:
        case PointerAttribute::mapped:
          write(data[a], 0);
          break;
        default:
          write(data[a], Pointer{0});
      }
    }
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuPointerSetAttribute(void const*, int, Pointer) {
  return current_context() ? Code::success : Code::device_uninitialized;
}

// ---------------------------------------------------------------- copies

#define COPY(name, suffix, parameters_to, parameters_from, to, from, kind)                                       \
  KERNELCAST_CUDA_EXPORT Code name##suffix(parameters_to, parameters_from, std::size_t bytes) {                  \
    return copy(to, from, bytes, CopyKind::kind);                                                                \
  }                                                                                                              \
  KERNELCAST_CUDA_ALIAS(name##suffix, name##suffix##_ptds)                                                       \
  KERNELCAST_CUDA_EXPORT Code name##Async##suffix(parameters_to, parameters_from, std::size_t bytes, Stream s) { \
    return copy(to, from, bytes, CopyKind::kind, s);                                                             \
  }                                                                                                              \
  KERNELCAST_CUDA_ALIAS(name##Async##suffix, name##Async##suffix##_ptsz)
COPY(cuMemcpyHtoD, _v2, Pointer to, void const* from, pointer_of(to), from, host_to_device)
COPY(cuMemcpyDtoH, _v2, void* to, Pointer from, to, pointer_of(from), device_to_host)
COPY(cuMemcpyDtoD, _v2, Pointer to, Pointer from, pointer_of(to), pointer_of(from), device_to_device)
COPY(cuMemcpy, , Pointer to, Pointer from, pointer_of(to), pointer_of(from), by_address)

KERNELCAST_CUDA_EXPORT Code cuMemcpyPeer(Pointer to, Context, Pointer from, Context, std::size_t bytes) {
  return copy(pointer_of(to), pointer_of(from), bytes, CopyKind::device_to_device);
}
KERNELCAST_CUDA_ALIAS(cuMemcpyPeer, cuMemcpyPeer_ptds)
KERNELCAST_CUDA_EXPORT Code cuMemcpyPeerAsync(Pointer to, Context, Pointer from, Context, std::size_t bytes,
                                              Stream stream) {
  return copy(pointer_of(to), pointer_of(from), bytes, CopyKind::device_to_device, stream);
}
KERNELCAST_CUDA_ALIAS(cuMemcpyPeerAsync, cuMemcpyPeerAsync_ptsz)

KERNELCAST_CUDA_EXPORT Code cuMemcpy3D_v2(Copy3D const* given) {
  return copy_3d(given, nullptr);
}
KERNELCAST_CUDA_ALIAS(cuMemcpy3D_v2, cuMemcpy3D_v2_ptds)
// It names the contexts behind what both have.
KERNELCAST_CUDA_ALIAS(cuMemcpy3D_v2, cuMemcpy3DPeer)
KERNELCAST_CUDA_ALIAS(cuMemcpy3D_v2, cuMemcpy3DPeer_ptds)
KERNELCAST_CUDA_EXPORT Code cuMemcpy3DAsync_v2(Copy3D const* given, Stream stream) {
  return copy_3d(given, &stream);
}
KERNELCAST_CUDA_ALIAS(cuMemcpy3DAsync_v2, cuMemcpy3DAsync_v2_ptsz)
KERNELCAST_CUDA_ALIAS(cuMemcpy3DAsync_v2, cuMemcpy3DPeerAsync)
KERNELCAST_CUDA_ALIAS(cuMemcpy3DAsync_v2, cuMemcpy3DPeerAsync_ptsz)
KERNELCAST_CUDA_EXPORT Code cuMemcpy2D_v2(Copy2D const* given) {
  if (!given) return Code::invalid_value;
  auto const plane = of_plane(*given);
  return copy_3d(&plane, nullptr);
}
KERNELCAST_CUDA_ALIAS(cuMemcpy2D_v2, cuMemcpy2D_v2_ptds)
KERNELCAST_CUDA_ALIAS(cuMemcpy2D_v2, cuMemcpy2DUnaligned_v2)
KERNELCAST_CUDA_ALIAS(cuMemcpy2D_v2, cuMemcpy2DUnaligned_v2_ptds)
KERNELCAST_CUDA_EXPORT Code cuMemcpy2DAsync_v2(Copy2D const* given, Stream stream) {
  if (!given) return Code::invalid_value;
  auto const plane = of_plane(*given);
  return copy_3d(&plane, &stream);
}
KERNELCAST_CUDA_ALIAS(cuMemcpy2DAsync_v2, cuMemcpy2DAsync_v2_ptsz)

namespace {

Code copy_to_array(Array* to, std::size_t offset, void const* from, MemoryKind kind, std::size_t bytes,
                   Stream const* stream) {
  auto row = of_row(bytes);
  put_array(row.target, to, offset);
  row.source.kind = kind;
  row.source.host = from;
  row.source.device = reinterpret_cast<Pointer>(from);
  return copy_3d(&row, stream);
}
Code copy_from_array(void* to, MemoryKind kind, Array* from, std::size_t offset, std::size_t bytes,
                     Stream const* stream) {
  auto row = of_row(bytes);
  put_array(row.source, from, offset);
  row.target.kind = kind;
  row.target.host = to;
  row.target.device = reinterpret_cast<Pointer>(to);
  return copy_3d(&row, stream);
}

}  // namespace

KERNELCAST_CUDA_EXPORT Code cuMemcpyHtoA_v2(Array* to, std::size_t offset, void const* from, std::size_t bytes) {
  return copy_to_array(to, offset, from, MemoryKind::host, bytes, nullptr);
}
KERNELCAST_CUDA_EXPORT Code cuMemcpyHtoAAsync_v2(Array* to, std::size_t offset, void const* from, std::size_t bytes,
                                                 Stream stream) {
  return copy_to_array(to, offset, from, MemoryKind::host, bytes, &stream);
}
KERNELCAST_CUDA_EXPORT Code cuMemcpyDtoA_v2(Array* to, std::size_t offset, Pointer from, std::size_t bytes) {
  return copy_to_array(to, offset, pointer_of(from), MemoryKind::device, bytes, nullptr);
}
KERNELCAST_CUDA_EXPORT Code cuMemcpyAtoH_v2(void* to, Array* from, std::size_t offset, std::size_t bytes) {
  return copy_from_array(to, MemoryKind::host, from, offset, bytes, nullptr);
}
KERNELCAST_CUDA_EXPORT Code cuMemcpyAtoHAsync_v2(void* to, Array* from, std::size_t offset, std::size_t bytes,
                                                 Stream stream) {
  return copy_from_array(to, MemoryKind::host, from, offset, bytes, &stream);
}
KERNELCAST_CUDA_EXPORT Code cuMemcpyAtoD_v2(Pointer to, Array* from, std::size_t offset, std::size_t bytes) {
  return copy_from_array(pointer_of(to), MemoryKind::device, from, offset, bytes, nullptr);
}
KERNELCAST_CUDA_EXPORT Code cuMemcpyAtoA_v2(Array* to, std::size_t to_offset, Array* from, std::size_t offset,
                                            std::size_t bytes) {
  auto row = of_row(bytes);
  put_array(row.source, from, offset);
  put_array(row.target, to, to_offset);
  return copy_3d(&row, nullptr);
}

// ---------------------------------------------------------------- fills

#define FILL(bits, Value)                                                                                             \
  KERNELCAST_CUDA_EXPORT Code cuMemsetD##bits##_v2(Pointer to, Value value, std::size_t count) {                      \
    return fill(to, count * sizeof(Value), value, count, 1, nullptr);                                                 \
  }                                                                                                                   \
  KERNELCAST_CUDA_ALIAS(cuMemsetD##bits##_v2, cuMemsetD##bits##_v2_ptds)                                              \
  KERNELCAST_CUDA_EXPORT Code cuMemsetD##bits##Async(Pointer to, Value value, std::size_t count, Stream stream) {     \
    return fill(to, count * sizeof(Value), value, count, 1, &stream);                                                 \
  }                                                                                                                   \
  KERNELCAST_CUDA_ALIAS(cuMemsetD##bits##Async, cuMemsetD##bits##Async_ptsz)                                          \
  KERNELCAST_CUDA_EXPORT Code cuMemsetD2D##bits##_v2(Pointer to, std::size_t pitch, Value value, std::size_t count,   \
                                                     std::size_t rows) {                                              \
    return fill(to, pitch, value, count, rows, nullptr);                                                              \
  }                                                                                                                   \
  KERNELCAST_CUDA_ALIAS(cuMemsetD2D##bits##_v2, cuMemsetD2D##bits##_v2_ptds)                                          \
  KERNELCAST_CUDA_EXPORT Code cuMemsetD2D##bits##Async(Pointer to, std::size_t pitch, Value value, std::size_t count, \
                                                       std::size_t rows, Stream stream) {                             \
    return fill(to, pitch, value, count, rows, &stream);                                                              \
  }                                                                                                                   \
  KERNELCAST_CUDA_ALIAS(cuMemsetD2D##bits##Async, cuMemsetD2D##bits##Async_ptsz)
FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned)
