#include "emu/tensor_map.hpp"

#include <algorithm>
#include <array>

namespace kernelcast::emu {

namespace {

constexpr std::uint32_t max_box = 256, max_step = 8, granule = 16;

bool is_floating(TensorMap::Element e) {
  return e >= TensorMap::Element::f16;
}

}  // namespace

std::uint32_t element_bytes(TensorMap::Element element) {
  static constexpr std::array<std::uint8_t, static_cast<std::size_t>(TensorMap::Element::count)> bytes = {
      1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
  auto const number = static_cast<std::size_t>(element);
  return number < bytes.size() ? bytes[number] : 0;
}

char const* fault_of(TensorMap const& m) {
  std::uint32_t const bytes = element_bytes(m.element);
  if (m.mode > TensorMap::Mode::tile) return "tensor maps of im2col are not emulated";
  if (std::ranges::any_of(m.reserved, [](std::uint8_t b) { return b != 0; }))
    return "not a tensor map: it has bits that no field has";
  if (m.rank() > TensorMap::max_rank) return "a tensor map's rank must be 1 to 5";
  if (bytes == 0) return "a tensor map's element type must be one of 8 to 64 bits";
  if (m.interleave != 0) return "interleaved tensor maps are not emulated";
  if (m.swizzle > 3) return "a tensor map's swizzle must be none, 32, 64 or 128 bytes";
  if (m.fill > 1 || (m.fill == 1 && !is_floating(m.element)))
    return "a tensor map's fill must be zeros, or NaN of a floating type";
  if (m.address == 0) return "a tensor map's global address must not be 0";
  if (m.address % granule != 0) return "a tensor map's global address must be a multiple of 16";
  for (std::uint32_t i = 0; i < m.rank(); ++i) {
    if (m.box[i] == 0 || m.box[i] > max_box) return "a tensor map's box must have 1 to 256 elements in each dimension";
    if (i == 0) continue;
    if (m.steps[i] == 0 || m.steps[i] > max_step) return "a tensor map's element strides must be 1 to 8";
    if (m.strides[i - 1] % granule != 0) return "a tensor map's global strides must be multiples of 16 bytes";
    if (m.strides[i - 1] >> 40 != 0) return "a tensor map's global strides must be less than 2^40 bytes";
  }
  std::uint32_t const row_bytes = m.box[0] * bytes;
  if (row_bytes % granule != 0) return "the rows of a tensor map's box must be multiples of 16 bytes";
  if (m.swizzle != 0 && row_bytes > granule << m.swizzle)
    return "the rows of a tensor map's box must not be longer than its swizzle";
  return nullptr;
}

}  // namespace kernelcast::emu
