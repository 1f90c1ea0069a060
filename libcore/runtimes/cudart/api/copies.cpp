// Copies and fills of linear memory. Those that are asynchronous are done when they return, too.
#include "runtimes/cudart/copies.hpp"
#include "emulator/emu.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/commands.hpp"
#include "runtimes/cudart/graphs.hpp"
#include "runtimes/cudart/registry.hpp"

using namespace kernelcast;
using namespace kernelcast::cudart;

namespace {

Code with_symbol(void const* symbol, std::size_t offset, std::size_t bytes, void*& address) {
  return call([&](Registry& registry, emu::Memory& memory) {
    auto const* const found = registry.symbol(symbol);
    if (!found) return Code::invalid_symbol;
    if (offset > found->bytes || bytes > found->bytes - offset) return Code::invalid_value;
    if (auto const failure = registry.load(*found->program); failure != Code::success) return failure;
    auto const begin = memory.address_of(*found->program->module, found->name);
    address = reinterpret_cast<void*>(begin + offset);
    return begin ? Code::success : Code::invalid_symbol;
  });
}

}  // namespace

KERNELCAST_CUDA_EXPORT Code cudaMemcpy(void* to, void const* from, std::size_t bytes, CopyKind kind) {
  return call([&](Copies& copies) { return copies.copy(to, from, bytes, kind); });
}
KERNELCAST_CUDA_ALIAS(cudaMemcpy, cudaMemcpy_ptds)
KERNELCAST_CUDA_EXPORT Code cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, CopyKind kind,
                                            Stream stream) {
  return on_stream(stream, NodeType::copy, [=] { return cudaMemcpy(to, from, bytes, kind); });
}
KERNELCAST_CUDA_ALIAS(cudaMemcpyAsync, cudaMemcpyAsync_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaMemcpyPeer(void* to, int, void const* from, int, std::size_t bytes) {
  return cudaMemcpy(to, from, bytes, CopyKind::device_to_device);
}
KERNELCAST_CUDA_EXPORT Code cudaMemcpyPeerAsync(void* to, int, void const* from, int, std::size_t bytes,
                                                Stream stream) {
  return cudaMemcpyAsync(to, from, bytes, CopyKind::device_to_device, stream);
}

KERNELCAST_CUDA_EXPORT Code cudaMemcpyToSymbol(void const* symbol, void const* from, std::size_t bytes,
                                               std::size_t offset, CopyKind kind) {
  void* to = nullptr;
  auto const code = with_symbol(symbol, offset, bytes, to);
  return code == Code::success ? cudaMemcpy(to, from, bytes, kind) : code;
}
KERNELCAST_CUDA_ALIAS(cudaMemcpyToSymbol, cudaMemcpyToSymbol_ptds)
KERNELCAST_CUDA_EXPORT Code cudaMemcpyToSymbolAsync(void const* symbol, void const* from, std::size_t bytes,
                                                    std::size_t offset, CopyKind kind, Stream stream) {
  void* to = nullptr;
  auto const code = with_symbol(symbol, offset, bytes, to);
  return code == Code::success ? cudaMemcpyAsync(to, from, bytes, kind, stream) : code;
}
KERNELCAST_CUDA_ALIAS(cudaMemcpyToSymbolAsync, cudaMemcpyToSymbolAsync_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaMemcpyFromSymbol(void* to, void const* symbol, std::size_t bytes, std::size_t offset,
                                                 CopyKind kind) {
  void* from = nullptr;
  auto const code = with_symbol(symbol, offset, bytes, from);
  return code == Code::success ? cudaMemcpy(to, from, bytes, kind) : code;
}
KERNELCAST_CUDA_ALIAS(cudaMemcpyFromSymbol, cudaMemcpyFromSymbol_ptds)
KERNELCAST_CUDA_EXPORT Code cudaMemcpyFromSymbolAsync(void* to, void const* symbol, std::size_t bytes,
                                                      std::size_t offset, CopyKind kind, Stream stream) {
  void* from = nullptr;
  auto const code = with_symbol(symbol, offset, bytes, from);
  return code == Code::success ? cudaMemcpyAsync(to, from, bytes, kind, stream) : code;
}
KERNELCAST_CUDA_ALIAS(cudaMemcpyFromSymbolAsync, cudaMemcpyFromSymbolAsync_ptsz)

KERNELCAST_CUDA_EXPORT Code cudaMemcpy2D(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
                                         std::size_t width, std::size_t height, CopyKind kind) {
  return call([&](Copies& copies) {
    return copies.copy_rows({to, to_pitch}, {const_cast<void*>(from), from_pitch}, width, height, kind);
  });
}
KERNELCAST_CUDA_ALIAS(cudaMemcpy2D, cudaMemcpy2D_ptds)
KERNELCAST_CUDA_EXPORT Code cudaMemcpy2DAsync(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
                                              std::size_t width, std::size_t height, CopyKind kind, Stream stream) {
  return on_stream(stream, NodeType::copy,
                   [=] { return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind); });
}
KERNELCAST_CUDA_ALIAS(cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz)

KERNELCAST_CUDA_EXPORT Code cudaMemset(void* to, int value, std::size_t bytes) {
  return call([&](Copies& copies) { return copies.fill_rows({to, bytes}, value, bytes, 1); });
}
KERNELCAST_CUDA_ALIAS(cudaMemset, cudaMemset_ptds)
KERNELCAST_CUDA_EXPORT Code cudaMemsetAsync(void* to, int value, std::size_t bytes, Stream stream) {
  return on_stream(stream, NodeType::fill, [=] { return cudaMemset(to, value, bytes); });
}
KERNELCAST_CUDA_ALIAS(cudaMemsetAsync, cudaMemsetAsync_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                                         std::size_t height) {
  return call([&](Copies& copies) { return copies.fill_rows({to, pitch}, value, width, height); });
}
KERNELCAST_CUDA_ALIAS(cudaMemset2D, cudaMemset2D_ptds)
KERNELCAST_CUDA_EXPORT Code cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                                              std::size_t height, Stream stream) {
  return on_stream(stream, NodeType::fill, [=] { return cudaMemset2D(to, pitch, value, width, height); });
}
KERNELCAST_CUDA_ALIAS(cudaMemset2DAsync, cudaMemset2DAsync_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaMemset3D(PitchedPointer to, int value, Extent extent) {
  return call([&](Copies& copies, Commands& commands) {
    Commands::Together const one_fill(commands);
    for (std::size_t z = 0; z < extent.depth; ++z) {
      auto* const slice = static_cast<std::byte*>(to.pointer) + z * to.pitch * to.height;
      auto const code = copies.fill_rows({slice, to.pitch}, value, extent.width, extent.height);
      if (code != Code::success) return code;
    }
    return Code::success;
  });
}
KERNELCAST_CUDA_ALIAS(cudaMemset3D, cudaMemset3D_ptds)
KERNELCAST_CUDA_EXPORT Code cudaMemset3DAsync(PitchedPointer to, int value, Extent extent, Stream stream) {
  return on_stream(stream, NodeType::fill, [=] { return cudaMemset3D(to, value, extent); });
}
KERNELCAST_CUDA_ALIAS(cudaMemset3DAsync, cudaMemset3DAsync_ptsz)
