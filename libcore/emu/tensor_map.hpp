// Tensor maps: what cuTensorMapEncode… makes, tensormap.replace changes and copies of tiles read.
//
// PTX and CUDA leave the 128 bytes opaque; this layout is our own, and nothing but the driver on the emulator and the
// instructions know it. All fields but the rank are what tensormap.replace writes, so that a map of zeros whose fields
// are replaced one by one, as compilers make them, is one that the driver could have made.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelcast::emu {

struct TensorMap {
  static constexpr std::uint32_t max_rank = 5;
  // As tensormap.replace numbers them; the driver has numbers of its own.
  enum class Element : std::uint8_t {
    u8,
    u16,
    u32,
    s32,
    u64,
    s64,
    f16,
    f32,
    f32_ftz,
    f64,
    bf16,
    tf32,
    tf32_ftz,
    count
  };
  enum class Mode : std::uint8_t { tile, im2col };

  std::uint64_t address = 0;
  std::uint64_t strides[max_rank - 1] = {};  // bytes, of the dimensions from the second on
  std::uint32_t dims[max_rank] = {};         // elements, the innermost dimension first
  std::uint16_t box[max_rank] = {};
  std::uint8_t steps[max_rank] = {};  // element strides; the first has no effect
  std::uint8_t last_dim = 0;          // the rank, less one
  Element element = Element::u8;
  std::uint8_t interleave = 0;  // none, 16 bytes, 32 bytes
  std::uint8_t swizzle = 0;     // none, 32, 64, 128 bytes
  std::uint8_t fill = 0;        // outside the tensor: zeros, NaN
  Mode mode = Mode::tile;
  std::uint8_t reserved[47] = {};

  std::uint32_t rank() const { return last_dim + 1u; }
};
static_assert(sizeof(TensorMap) == 128 && offsetof(TensorMap, reserved) == 81);

inline constexpr std::uint32_t tensor_map_alignment = 64;

std::uint32_t element_bytes(TensorMap::Element);
// What is wrong with it: [cuda] cuTensorMapEncodeTiled has the rules. Null where nothing is.
char const* fault_of(TensorMap const&);

}  // namespace kernelcast::emu
