// Allocation, and queries of memory.
#include <algorithm>
#include <cstring>

#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/devices.hpp"
#include "runtimes/cudart/graph_nodes.hpp"
#include "runtimes/cudart/timeline.hpp"

using namespace kernelcast::cudart;

namespace {

constexpr std::size_t row_alignment_bytes = 512;  // of cudaMallocPitch

Code allocate(void** out, MemoryType type, std::size_t bytes, unsigned flags = 0) {
  return call([&](Allocations& allocations, Timeline& timeline) {
    if (!out) return Code::invalid_value;
    *out = nullptr;
    if (bytes == 0) return type == MemoryType::managed ? Code::invalid_value : Code::success;
    *out = allocations.add(type, bytes, flags);
    timeline.allocated();
    return *out ? Code::success : Code::memory_allocation;
  });
}

Code release(void* pointer, MemoryType type) {
  return call([&](Graphs& graphs, Allocations& allocations) {
    return !pointer || graphs.use(pointer, false) ? Code::success : allocations.remove(pointer, type);
  });
}

// A node of the graph that the stream is captured into, if it is.
Code capture(Stream stream, NodeParameters& given, bool& captured) {
  return call([&](Graphs& graphs, Registry& registry) {
    captured = graphs.capture_of(stream) != nullptr;
    Node node;
    auto const code = captured ? make_node(registry, &given, node) : Code::success;
    if (captured && code == Code::success) add_captured(graphs, stream, std::move(node));
    return code;
  });
}

}  // namespace

KERNELCAST_CUDA_EXPORT Code cudaMalloc(void** out, std::size_t bytes) {
  return allocate(out, MemoryType::device, bytes);
}
KERNELCAST_CUDA_EXPORT Code cudaMallocAsync(void** out, std::size_t bytes, Stream stream) {
  NodeParameters given{};
  given.type = NodeType::allocation;
  given.allocation.bytes = bytes;
  bool captured = false;
  auto const code = capture(stream, given, captured);
  if (code == Code::success && captured) *out = given.allocation.pointer;
  return captured || code != Code::success ? code : allocate(out, MemoryType::device, bytes);
}
KERNELCAST_CUDA_ALIAS(cudaMallocAsync, cudaMallocAsync_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaMallocFromPoolAsync(void** out, std::size_t bytes, void*, Stream stream) {
  return cudaMallocAsync(out, bytes, stream);
}
KERNELCAST_CUDA_ALIAS(cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaMallocManaged(void** out, std::size_t bytes, unsigned flags) {
  return allocate(out, MemoryType::managed, bytes, flags);
}
KERNELCAST_CUDA_EXPORT Code cudaMallocHost(void** out, std::size_t bytes) {
  return allocate(out, MemoryType::host, bytes);
}
KERNELCAST_CUDA_EXPORT Code cudaHostAlloc(void** out, std::size_t bytes, unsigned flags) {
  return flags > 7 ? remembered(Code::invalid_value) : allocate(out, MemoryType::host, bytes, flags);
}
KERNELCAST_CUDA_EXPORT Code cudaMallocPitch(void** out, std::size_t* pitch, std::size_t width, std::size_t height) {
  *pitch = (width + row_alignment_bytes - 1) / row_alignment_bytes * row_alignment_bytes;
  return allocate(out, MemoryType::device, *pitch * height);
}
KERNELCAST_CUDA_EXPORT Code cudaMalloc3D(PitchedPointer* out, Extent extent) {
  out->width = extent.width;
  out->height = extent.height;
  return cudaMallocPitch(&out->pointer, &out->pitch, extent.width, extent.height * extent.depth);
}
KERNELCAST_CUDA_EXPORT Code cudaFree(void* pointer) {
  return release(pointer, MemoryType::device);
}
KERNELCAST_CUDA_EXPORT Code cudaFreeAsync(void* pointer, Stream stream) {
  NodeParameters given{};
  given.type = NodeType::release;
  given.release.pointer = pointer;
  bool captured = false;
  auto const code = capture(stream, given, captured);
  return captured || code != Code::success ? code : release(pointer, MemoryType::device);
}
KERNELCAST_CUDA_ALIAS(cudaFreeAsync, cudaFreeAsync_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaFreeHost(void* pointer) {
  return release(pointer, MemoryType::host);
}

KERNELCAST_CUDA_EXPORT Code cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return call([&](Allocations& allocations) {
    if (!pointer || bytes == 0) return Code::invalid_value;
    return allocations.lend(pointer, bytes, flags) ? Code::success : Code::host_memory_already_registered;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaHostUnregister(void* pointer) {
  return call([&](Allocations& allocations) { return allocations.remove_registered(pointer); });
}
KERNELCAST_CUDA_EXPORT Code cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  return call([&](Allocations& allocations) {
    auto const* const found = allocations.holding(host).second;
    if (!found || found->type != MemoryType::host) return Code::invalid_value;
    *device = host;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaHostGetFlags(unsigned* flags, void* host) {
  return call([&](Allocations& allocations) {
    auto const* const found = allocations.holding(host).second;
    if (!found || found->type != MemoryType::host) return Code::invalid_value;
    *flags = found->flags | host_register_mapped;
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaPointerGetAttributes(PointerAttributes* out, void const* pointer) {
  return call([&](Allocations& allocations) {
    if (!out) return Code::invalid_value;
    auto const* const found = allocations.holding(pointer).second;
    auto* const address = const_cast<void*>(pointer);
    bool const is_symbol = !found && allocations.holds(pointer, 1);
    out->type = found ? found->type : is_symbol ? MemoryType::device : MemoryType::unregistered;
    out->device = found ? found->device : is_symbol ? current_device() : -2;
    out->device_pointer = out->type == MemoryType::unregistered ? nullptr : address;
    out->host_pointer = out->type == MemoryType::device ? nullptr : address;
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call([&](Devices const& devices, Allocations& allocations) {
    *total = devices.memory_bytes_asked_for(current_device());
    *free = *total - std::min<std::size_t>(*total, allocations.used_bytes(current_device()));
    return Code::success;
  });
}
