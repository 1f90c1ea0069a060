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
    // Packed in the tensor. In shared memory 16 bytes hold 32 elements of 4 bits, or the last two 16 elements and
    // padding.
    b4,
    b4_padded,
    b6_padded,
    count
  };
  // wide: pixels along the innermost spatial dimension alone; wide_128: 128 of them.
  enum class Mode : std::uint8_t { tile, im2col, wide, wide_128 };
  static constexpr std::uint32_t pixels_of_wide_128 = 128;

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
  // Of pixels, in tensors whose dimensions are channels, up to three spatial ones and images: the box of pixels begins
  // at `lower` and ends `upper` after the tensor, per spatial dimension; a tile has so many pixels of box[0] channels.
  std::int16_t lower[max_rank - 2] = {}, upper[max_rank - 2] = {};
  std::uint16_t pixels = 0;
  std::uint8_t atoms = 0;  // of a swizzle of 128 bytes: 16 bytes change places, 32, (flipped), 64
  std::uint8_t reserved[31] = {};

  std::uint32_t rank() const { return last_dim + 1u; }
  bool has_pixels() const { return mode != Mode::tile; }
  std::uint32_t tile_pixels() const { return mode == Mode::wide_128 ? pixels_of_wide_128 : pixels; }
  // Dimensions 1 to so many are those of the box of pixels.
  std::uint32_t spatial() const { return mode == Mode::im2col ? last_dim - 1u : 1u; }
  // Pixels of the box along a dimension.
  std::int64_t box_pixels(std::uint32_t dim) const {
    std::int64_t const length = std::int64_t{dims[dim]} + upper[dim - 1] - lower[dim - 1];
    return (length + steps[dim] - 1) / steps[dim];
  }
};
static_assert(sizeof(TensorMap) == 128 && offsetof(TensorMap, reserved) == 97);

inline constexpr std::uint32_t tensor_map_alignment = 64;

std::uint32_t element_bits(TensorMap::Element);   // in the tensor; 0: there is no such element
std::uint32_t granule_bytes(TensorMap::Element);  // of the tensor, that become 16 bytes of shared memory
inline constexpr std::uint32_t shared_granule_bytes = 16;
// What is wrong with it: [cuda] cuTensorMapEncodeTiled has the rules. Null where nothing is.
char const* fault_of(TensorMap const&);

}  // namespace kernelcast::emu
