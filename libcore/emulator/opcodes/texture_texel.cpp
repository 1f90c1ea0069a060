#include "emulator/opcodes/texture_texel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

namespace kernelcast::emu {

namespace {

template <class T>
T stored(std::byte const* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

// The fractions of 8 bits: a division for each channel is most of what a filter costs.
struct Fractions {
  std::uint32_t of_unsigned[256], of_signed[256];
  Fractions() {
    for (unsigned i = 0; i < 256; ++i) {
      of_unsigned[i] = bits(static_cast<float>(i) / 255.0f);
      of_signed[i] = bits(std::max(static_cast<float>(static_cast<std::int8_t>(i)) / 127.0f, -1.0f));
    }
  }
};
Fractions const fractions;

std::uint32_t read_channel(ChannelType type, std::byte const* from) {
  switch (type) {
    case ChannelType::unorm8:
      return fractions.of_unsigned[stored<std::uint8_t>(from)];
    case ChannelType::unorm16:
      return bits(static_cast<float>(stored<std::uint16_t>(from)) / 65535.0f);
    case ChannelType::snorm8:
      return fractions.of_signed[stored<std::uint8_t>(from)];
    case ChannelType::snorm16:
      return bits(std::max(static_cast<float>(stored<std::int16_t>(from)) / 32767.0f, -1.0f));
    case ChannelType::sint8:
      return static_cast<std::uint32_t>(std::int32_t{stored<std::int8_t>(from)});
    case ChannelType::sint16:
      return static_cast<std::uint32_t>(std::int32_t{stored<std::int16_t>(from)});
    case ChannelType::uint8:
      return stored<std::uint8_t>(from);
    case ChannelType::uint16:
      return stored<std::uint16_t>(from);
    case ChannelType::half:
      return bits(float_of_half(stored<std::uint16_t>(from)));
    case ChannelType::sint32:
    case ChannelType::uint32:
    case ChannelType::float32:
      break;
  }
  return stored<std::uint32_t>(from);
}

template <class T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

// To an integer of T, to nearest even, saturated.
template <class T>
T normalized(std::uint32_t value, float scale) {
  float const f = std::bit_cast<float>(value);
  if (f != f) return 0;
  return static_cast<T>(std::nearbyint(std::clamp(f * scale, std::is_signed_v<T> ? -scale - 1.0f : 0.0f, scale)));
}

template <class T, class From>
T saturated(std::uint32_t value) {
  auto const wide = static_cast<std::int64_t>(static_cast<From>(value));
  return static_cast<T>(std::clamp<std::int64_t>(wide, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

void write_channel(ChannelType type, std::byte* to, std::uint32_t value) {
  switch (type) {
    case ChannelType::unorm8:
      return put(to, normalized<std::uint8_t>(value, 255.0f));
    case ChannelType::unorm16:
      return put(to, normalized<std::uint16_t>(value, 65535.0f));
    case ChannelType::snorm8:
      return put(to, normalized<std::int8_t>(value, 127.0f));
    case ChannelType::snorm16:
      return put(to, normalized<std::int16_t>(value, 32767.0f));
    case ChannelType::sint8:
      return put(to, saturated<std::int8_t, std::int32_t>(value));
    case ChannelType::sint16:
      return put(to, saturated<std::int16_t, std::int32_t>(value));
    case ChannelType::uint8:
      return put(to, saturated<std::uint8_t, std::uint32_t>(value));
    case ChannelType::uint16:
      return put(to, saturated<std::uint16_t, std::uint32_t>(value));
    case ChannelType::half:
      return put(to, half_of_float(std::bit_cast<float>(value)));
    case ChannelType::sint32:
    case ChannelType::uint32:
    case ChannelType::float32:
      return put(to, value);
  }
}

// Which of R, G, B, A (0 … 3) the stored channels are.
std::span<std::uint8_t const> stored_channels(ChannelOrder order) {
  static constexpr std::uint8_t rgba[] = {0, 1, 2, 3}, bgra[] = {2, 1, 0, 3}, argb[] = {3, 0, 1, 2},
                                abgr[] = {3, 2, 1, 0}, ra[] = {0, 3};
  switch (order) {
    case ChannelOrder::a:
      return {rgba + 3, 1};
    case ChannelOrder::rg:
      return {rgba, 2};
    case ChannelOrder::ra:
      return ra;
    case ChannelOrder::rgb:
      return {rgba, 3};
    case ChannelOrder::rgba:
      return rgba;
    case ChannelOrder::bgra:
      return bgra;
    case ChannelOrder::argb:
      return argb;
    case ChannelOrder::abgr:
      return abgr;
    default:
      return {rgba, 1};
  }
}

std::uint32_t one(Format format) {
  return is_integer(format.type) ? 1 : bits(1.0f);
}

}  // namespace

TexelValue read_texel(Format format, std::byte const* from) {
  TexelValue value{0, 0, 0, has_alpha(format.order) ? 0 : one(format)};
  unsigned const step = size_bytes(format.type);
  for (std::uint8_t const channel : stored_channels(format.order)) {
    value[channel] = read_channel(format.type, from);
    from += step;
  }
  if (format.order == ChannelOrder::intensity) value[1] = value[2] = value[3] = value[0];
  if (format.order == ChannelOrder::luminance) value[1] = value[2] = value[0];
  return value;
}

void write_texel(Format format, std::byte* to, TexelValue const& value) {
  unsigned const step = size_bytes(format.type);
  for (std::uint8_t const channel : stored_channels(format.order)) {
    write_channel(format.type, to, value[channel]);
    to += step;
  }
}

TexelValue border_of(Format format, Sampler const& sampler) {
  if (sampler.border) return *sampler.border;
  return {0, 0, 0, has_alpha(format.order) ? 0 : one(format)};
}

// To nearest even; a NaN stays one.
std::uint16_t half_of_float(float value) {
  std::uint32_t const all = std::bit_cast<std::uint32_t>(value), sign = all >> 16 & 0x8000u, rest = all & 0x7fffffffu;
  if (rest > 0x7f800000u) return 0x7fff;
  if (rest >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (rest < 0x38800000u)  // subnormal: the addition rounds at the right bit
    return static_cast<std::uint16_t>(sign | (bits(std::bit_cast<float>(rest) + 0.5f) - 0x3f000000u));
  return static_cast<std::uint16_t>(sign | ((rest - 0x38000000u + 0xfffu + (rest >> 13 & 1)) >> 13));
}

float float_of_half(std::uint16_t half) {
  std::uint32_t const sign = (half & 0x8000u) << 16, rest = half & 0x7fffu;
  std::uint32_t const magnitude =
      rest >= 0x7c00u ? 0x7f800000u | rest << 13 : bits(std::bit_cast<float>(rest << 13) * 0x1p112f);
  return std::bit_cast<float>(sign | magnitude);
}

}  // namespace kernelcast::emu
