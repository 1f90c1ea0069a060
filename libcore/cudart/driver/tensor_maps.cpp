// Tensor maps, in the layout that the emulator's instructions read (emu/tensor_map.hpp).
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>

#include "cudart/driver/call.hpp"
#include "emu/tensor_map.hpp"

using namespace kernelcast;
using namespace kernelcast::driver;
using emu::TensorMap;

namespace {

// CUtensorMapDataType, which tensormap.replace numbers otherwise; 4 and 6 bits are of later devices.
std::optional<TensorMap::Element> element_of(int type) {
  using enum TensorMap::Element;
  static constexpr std::array elements = {u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz};
  if (type < 0 || static_cast<std::size_t>(type) >= elements.size()) return std::nullopt;
  return elements[static_cast<std::size_t>(type)];
}

template <class T>
bool fits(long long value) {
  return value >= 0 && value <= static_cast<long long>(std::numeric_limits<T>::max());
}

}  // namespace

KERNELCAST_CUDA_EXPORT Code cuTensorMapEncodeTiled(void* out, int type, unsigned rank, void* address,
                                                   unsigned long long const* dims, unsigned long long const* strides,
                                                   unsigned const* box, unsigned const* steps, int interleave,
                                                   int swizzle, int promotion, int fill) {
  auto const element = element_of(type);
  if (!out || !element || rank < 1 || rank > TensorMap::max_rank || !dims || (rank > 1 && !strides) || !box || !steps ||
      !fits<std::uint8_t>(interleave) || !fits<std::uint8_t>(swizzle) || promotion < 0 || promotion > 3 ||
      !fits<std::uint8_t>(fill) || reinterpret_cast<std::uintptr_t>(out) % emu::tensor_map_alignment != 0)
    return Code::invalid_value;
  TensorMap map;
  map.element = *element;
  map.last_dim = static_cast<std::uint8_t>(rank - 1);
  map.address = reinterpret_cast<std::uint64_t>(address);
  map.interleave = static_cast<std::uint8_t>(interleave);
  map.swizzle = static_cast<std::uint8_t>(swizzle);
  map.fill = static_cast<std::uint8_t>(fill);
  for (unsigned i = 0; i < rank; ++i) {
    if (dims[i] == 0 || dims[i] > std::uint64_t{1} << 32 || box[i] > 256 || steps[i] > 8) return Code::invalid_value;
    // The last of 2^32 elements is beyond all coordinates.
    map.dims[i] = static_cast<std::uint32_t>(std::min<std::uint64_t>(dims[i], ~std::uint32_t{0}));
    map.box[i] = static_cast<std::uint16_t>(box[i]);
    map.steps[i] = static_cast<std::uint8_t>(steps[i]);
    if (i > 0) map.strides[i - 1] = strides[i - 1];
  }
  if (emu::fault_of(map)) return Code::invalid_value;
  std::memcpy(out, &map, sizeof map);
  return Code::success;
}

KERNELCAST_CUDA_EXPORT Code cuTensorMapReplaceAddress(void* out, void* address) {
  if (!out) return Code::invalid_value;
  TensorMap map;
  std::memcpy(&map, out, sizeof map);
  map.address = reinterpret_cast<std::uint64_t>(address);
  if (emu::fault_of(map)) return Code::invalid_value;
  std::memcpy(out, &map, sizeof map);
  return Code::success;
}
