// Tensor maps, in the layout that the emulator's instructions read (emulator/tensor_map.hpp).
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>

#include "emulator/tensor_map.hpp"
#include "runtimes/cudart/driver/call.hpp"

using namespace kernelcast;
using namespace kernelcast::driver;
using emu::TensorMap;

namespace {

// CUtensorMapDataType, which tensormap.replace numbers otherwise.
std::optional<TensorMap::Element> element_of(int type) {
  using enum TensorMap::Element;
  static constexpr std::array elements = {u8,  u16,  u32,     s32,  u64,      s64, f16,       f32,
                                          f64, bf16, f32_ftz, tf32, tf32_ftz, b4,  b4_padded, b6_padded};
  if (type < 0 || static_cast<std::size_t>(type) >= elements.size()) return std::nullopt;
  return elements[static_cast<std::size_t>(type)];
}

template <class T>
bool fits(long long value) {
  return value >= 0 && value <= static_cast<long long>(std::numeric_limits<T>::max());
}

// What both kinds of maps have.
struct Common {
  int type;
  unsigned rank;
  void* address;
  unsigned long long const *dims, *strides;
  unsigned const* steps;
  int interleave, swizzle, promotion, fill;
};

bool begin(Common const& given, TensorMap& map) {
  auto const element = element_of(given.type);
  if (!element || given.rank < 1 || given.rank > TensorMap::max_rank || !given.dims ||
      (given.rank > 1 && !given.strides) || !given.steps || !fits<std::uint8_t>(given.interleave) ||
      !fits<std::uint8_t>(given.swizzle) || given.promotion < 0 || given.promotion > 3 ||
      !fits<std::uint8_t>(given.fill))
    return false;
  map.element = *element;
  map.last_dim = static_cast<std::uint8_t>(given.rank - 1);
  map.address = reinterpret_cast<std::uint64_t>(given.address);
  map.interleave = static_cast<std::uint8_t>(given.interleave);
  // CUtensorMapSwizzle: from 4 on 128 bytes in atoms of 32, 32 flipped, 64.
  map.swizzle = static_cast<std::uint8_t>(given.swizzle <= 3 ? given.swizzle : 3);
  map.atoms = static_cast<std::uint8_t>(given.swizzle <= 3 ? 0 : given.swizzle - 3);
  map.fill = static_cast<std::uint8_t>(given.fill);
  for (unsigned i = 0; i < given.rank; ++i) {
    if (given.dims[i] == 0 || given.dims[i] > std::uint64_t{1} << 32 || given.steps[i] > 8) return false;
    // The last of 2^32 elements is beyond all coordinates.
    map.dims[i] = static_cast<std::uint32_t>(std::min<std::uint64_t>(given.dims[i], ~std::uint32_t{0}));
    map.steps[i] = static_cast<std::uint8_t>(given.steps[i]);
    if (i > 0) map.strides[i - 1] = given.strides[i - 1];
  }
  return true;
}

// A map may be made before its tensor is known: kernels put the address in (tensormap.replace).
Code put(void* out, TensorMap const& map) {
  TensorMap placed = map;
  if (placed.address == 0) placed.address = emu::shared_granule_bytes;
  if (!out || reinterpret_cast<std::uintptr_t>(out) % emu::tensor_map_alignment != 0 || emu::fault_of(placed))
    return Code::invalid_value;
  std::memcpy(out, &map, sizeof map);
  return Code::success;
}

}  // namespace

KERNELCAST_CUDA_EXPORT Code cuTensorMapEncodeTiled(void* out, int type, unsigned rank, void* address,
                                                   unsigned long long const* dims, unsigned long long const* strides,
                                                   unsigned const* box, unsigned const* steps, int interleave,
                                                   int swizzle, int promotion, int fill) {
  TensorMap map;
  if (!begin({type, rank, address, dims, strides, steps, interleave, swizzle, promotion, fill}, map) || !box)
    return Code::invalid_value;
  for (unsigned i = 0; i < rank; ++i) {
    if (box[i] > 256) return Code::invalid_value;
    map.box[i] = static_cast<std::uint16_t>(box[i]);
  }
  return put(out, map);
}

namespace {

// A map of pixels; corners of `corners` spatial dimensions, the innermost first.
Code put_pixels(void* out, Common const& given, TensorMap::Mode mode, int const* lower, int const* upper,
                unsigned corners, unsigned channels, unsigned pixels) {
  TensorMap map;
  if (!begin(given, map) || given.rank < 3 || !lower || !upper || channels > 256 || pixels > 1024)
    return Code::invalid_value;
  map.mode = mode;
  map.box[0] = static_cast<std::uint16_t>(channels);
  map.pixels = static_cast<std::uint16_t>(pixels);
  int const most = corners == 1 ? 32767 : corners == 2 ? 127 : 15;
  for (unsigned i = 0; i < corners; ++i) {
    for (int const corner : {lower[i], upper[i]})
      if (corner > most || corner < -most - 1) return Code::invalid_value;
    map.lower[i] = static_cast<std::int16_t>(lower[i]);
    map.upper[i] = static_cast<std::int16_t>(upper[i]);
  }
  return put(out, map);
}

}  // namespace

KERNELCAST_CUDA_EXPORT Code cuTensorMapEncodeIm2col(void* out, int type, unsigned rank, void* address,
                                                    unsigned long long const* dims, unsigned long long const* strides,
                                                    int const* lower, int const* upper, unsigned channels,
                                                    unsigned pixels, unsigned const* steps, int interleave, int swizzle,
                                                    int promotion, int fill) {
  return put_pixels(out, {type, rank, address, dims, strides, steps, interleave, swizzle, promotion, fill},
                    TensorMap::Mode::im2col, lower, upper, rank < 3 ? 0 : rank - 2, channels, pixels);
}

// mode: 0 of so many pixels, 1 of 128.
KERNELCAST_CUDA_EXPORT Code cuTensorMapEncodeIm2colWide(void* out, int type, unsigned rank, void* address,
                                                        unsigned long long const* dims,
                                                        unsigned long long const* strides, int lower, int upper,
                                                        unsigned channels, unsigned pixels, unsigned const* steps,
                                                        int interleave, int mode, int swizzle, int promotion,
                                                        int fill) {
  if (mode != 0 && mode != 1) return Code::invalid_value;
  return put_pixels(out, {type, rank, address, dims, strides, steps, interleave, swizzle, promotion, fill},
                    mode ? TensorMap::Mode::wide_128 : TensorMap::Mode::wide, &lower, &upper, 1, channels,
                    mode ? 0 : pixels);
}

KERNELCAST_CUDA_EXPORT Code cuTensorMapReplaceAddress(void* out, void* address) {
  if (!out) return Code::invalid_value;
  TensorMap map;
  std::memcpy(&map, out, sizeof map);
  map.address = reinterpret_cast<std::uint64_t>(address);
  return put(out, map);
}
