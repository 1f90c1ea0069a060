// CUDA arrays: texels in rows without gaps, in the device's memory.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "emulator/image.hpp"
#include "kernels/cuda/abi.hpp"

namespace kernelcast::cudart {

struct Array {
  ChannelFormat format;
  Extent extent;  // as requested: a height or depth of 0 where there is none
  unsigned flags = 0;
  std::size_t texel_bytes = 0;
  std::byte* texels = nullptr;

  std::size_t rows() const { return extent.height ? extent.height : 1; }  // of a slice
  std::size_t slices() const { return extent.depth ? extent.depth : 1; }  // layers and faces, too
  std::size_t row_bytes() const { return extent.width * texel_bytes; }
  std::size_t slice_bytes() const { return rows() * row_bytes(); }
};

// Bytes of a texel; 0 for what CUDA has no arrays of.
std::size_t texel_bytes(ChannelFormat const&);
// As the emulator has it; integers are read as fractions where `normalized`. Empty where there is no such format.
std::optional<emu::Format> format_of(ChannelFormat const&, bool normalized);
// Its shape, without the texels' address.
emu::Image shape_of(Array const&);

class Arrays {
 public:
  Array* add(Array array);
  bool remove(Array* array) { return all_.erase(array) > 0; }
  void clear() { all_.clear(); }
  bool known(Array const* array) const { return all_.contains(const_cast<Array*>(array)); }

 private:
  std::unordered_map<Array*, std::unique_ptr<Array>> all_;
};

}  // namespace kernelcast::cudart
