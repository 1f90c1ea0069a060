#include "emulator/tensor_map.hpp"

#include <algorithm>
#include <array>

namespace kernelcast::emu {

namespace {

constexpr std::uint32_t max_box = 256, max_step = 8, max_pixels = 1024, granule = shared_granule_bytes;
constexpr std::uint8_t flipped_atoms = 2;
constexpr std::uint64_t max_box_bytes = std::uint64_t{256} << 10;

bool is_floating(TensorMap::Element e) {
  return e >= TensorMap::Element::f16 && e < TensorMap::Element::b4;
}

}  // namespace

std::uint32_t element_bits(TensorMap::Element element) {
  static constexpr std::array<std::uint8_t, static_cast<std::size_t>(TensorMap::Element::count)> bits = {
      8, 16, 32, 32, 64, 64, 16, 32, 32, 64, 16, 32, 32, 4, 4, 6};
  auto const number = static_cast<std::size_t>(element);
  return number < bits.size() ? bits[number] : 0;
}

std::uint32_t granule_bytes(TensorMap::Element element) {
  return element == TensorMap::Element::b4_padded ? 8 : element == TensorMap::Element::b6_padded ? 12 : granule;
}

char const* fault_of(TensorMap const& m) {
  std::uint32_t const bits = element_bits(m.element), of_granule = granule_bytes(m.element);
  bool const of_pixels = m.has_pixels();
  if (m.mode > TensorMap::Mode::wide_128) return "not a tensor map: it has an unknown mode";
  if (std::ranges::any_of(m.reserved, [](std::uint8_t b) { return b != 0; }))
    return "not a tensor map: it has bits that no field has";
  if (m.rank() > TensorMap::max_rank) return "a tensor map's rank must be 1 to 5";
  if (bits == 0) return "a tensor map's element type must be one of 4 to 64 bits";
  if (m.interleave != 0) return "interleaved tensor maps are not emulated";
  if (m.swizzle > 3) return "a tensor map's swizzle must be none, 32, 64 or 128 bytes";
  if (m.atoms == flipped_atoms) return "tensor maps whose swizzle flips halves of 8 bytes are not emulated";
  if (m.atoms > 3 || (m.atoms != 0 && m.swizzle != 3))
    return "a tensor map's swizzle in atoms of 32 or 64 bytes must be one of 128 bytes";
  if (m.fill > 1 || (m.fill == 1 && !is_floating(m.element)))
    return "a tensor map's fill must be zeros, or NaN of a floating type";
  if (m.address == 0) return "a tensor map's global address must not be 0";
  if (m.address % granule != 0) return "a tensor map's global address must be a multiple of 16";
  if (of_pixels && (m.rank() < 3 || m.tile_pixels() == 0 || m.tile_pixels() > max_pixels))
    return "a tensor map of im2col must have rank 3 to 5 and 1 to 1024 pixels";
  if (m.mode >= TensorMap::Mode::wide && m.swizzle < 2)
    return "a tensor map of im2col::w must have a swizzle of 64 or 128 bytes";
  std::uint64_t box_bytes = of_pixels ? m.tile_pixels() : 1;
  for (std::uint32_t i = 0; i < m.rank(); ++i) {
    bool const of_box = i == 0 || !of_pixels;
    if (of_box && (m.box[i] == 0 || m.box[i] > max_box))
      return "a tensor map's box must have 1 to 256 elements in each dimension";
    if (i == 0) {
      // Rows begin and end with whole granules of the box, and with whole bytes of the tensor.
      std::uint32_t const box_bits = m.box[0] * bits;
      if (box_bits % (8 * of_granule) != 0) return "the rows of a tensor map's box must be multiples of 16 bytes";
      if (std::uint64_t{m.dims[0]} * bits % 8 != 0) return "the rows of a tensor must be whole bytes";
      box_bytes *= box_bits / (8 * of_granule) * granule;
      continue;
    }
    if (of_box) box_bytes *= m.steps[i] == 0 ? m.box[i] : (m.box[i] + m.steps[i] - 1u) / m.steps[i];
    if (m.steps[i] == 0 || m.steps[i] > max_step) return "a tensor map's element strides must be 1 to 8";
    if (m.strides[i - 1] % granule != 0) return "a tensor map's global strides must be multiples of 16 bytes";
    if (m.strides[i - 1] >> 40 != 0) return "a tensor map's global strides must be less than 2^40 bytes";
  }
  for (std::uint32_t i = 1; of_pixels && i <= m.spatial(); ++i)
    if (m.box_pixels(i) < 1) return "a tensor map's box of pixels is empty";
  if (box_bytes > max_box_bytes) return "a tensor map's box is larger than shared memory";
  std::uint32_t const row_bytes = m.box[0] * bits / (8 * of_granule) * granule;
  if (m.swizzle != 0 && row_bytes > granule << m.swizzle)
    return "the rows of a tensor map's box must not be longer than its swizzle";
  return nullptr;
}

}  // namespace kernelcast::emu
