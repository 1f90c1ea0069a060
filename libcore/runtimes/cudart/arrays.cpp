#include "runtimes/cudart/arrays.hpp"

namespace kernelcast::cudart {

namespace {

// Kinds from unorm8x1 on: eight and sixteen bits, one, two and four channels.
bool is_normalized_kind(ChannelKind kind) {
  return kind >= ChannelKind::unorm8x1 && kind <= ChannelKind::snorm16x4;
}

unsigned channels(ChannelFormat const& f) {
  return (f.x != 0) + (f.y != 0) + (f.z != 0) + (f.w != 0);
}

std::optional<emu::ChannelType> type_of(ChannelFormat const& f, bool normalized) {
  using enum emu::ChannelType;
  bool const is_signed = f.kind == ChannelKind::signed_integer || f.kind >= ChannelKind::snorm8x1;
  bool const fraction = normalized || is_normalized_kind(f.kind);
  if (f.kind == ChannelKind::floating) {
    if (f.x == 16) return half;
    return f.x == 32 ? std::optional(float32) : std::nullopt;
  }
  if (f.kind == ChannelKind::none) return std::nullopt;
  if (f.x == 8) return fraction ? (is_signed ? snorm8 : unorm8) : is_signed ? sint8 : uint8;
  if (f.x == 16) return fraction ? (is_signed ? snorm16 : unorm16) : is_signed ? sint16 : uint16;
  if (f.x == 32 && !fraction) return is_signed ? sint32 : uint32;
  return std::nullopt;
}

}  // namespace

std::size_t texel_bytes(ChannelFormat const& f) {
  unsigned const n = channels(f);
  for (int const bits : {f.y, f.z, f.w})
    if (bits != 0 && bits != f.x) return 0;
  bool const whole = f.x == 8 || f.x == 16 || f.x == 32;
  return whole && (n == 1 || n == 2 || n == 4) ? n * static_cast<std::size_t>(f.x) / 8 : 0;
}

std::optional<emu::Format> format_of(ChannelFormat const& f, bool normalized) {
  using enum emu::ChannelOrder;
  auto const type = type_of(f, normalized);
  if (!type || texel_bytes(f) == 0) return std::nullopt;
  unsigned const n = channels(f);
  return emu::Format{n == 1 ? r : n == 2 ? rg : rgba, *type};
}

emu::Image shape_of(Array const& a) {
  using enum emu::Geometry;
  emu::Image image;
  image.name = "cudaArray";
  image.width = static_cast<std::uint32_t>(a.extent.width);
  image.height = static_cast<std::uint32_t>(a.rows());
  bool const layered = (a.flags & array_layered) != 0, has_faces = (a.flags & array_cubemap) != 0;
  auto const slices = static_cast<std::uint32_t>(a.slices());
  if (has_faces) {
    image.geometry = layered ? cube_array : cube;
    image.layers = layered ? slices / 6 : 1;
  } else if (layered) {
    image.geometry = a.extent.height ? array_2d : array_1d;
    image.layers = slices;
  } else {
    image.geometry = a.extent.depth ? image_3d : a.extent.height ? image_2d : image_1d;
    image.depth = slices;
  }
  image.address = reinterpret_cast<std::uint64_t>(a.texels);
  return image;
}

Array* Arrays::add(Array array) {
  auto made = std::make_unique<Array>(array);
  Array* const handle = made.get();
  all_.emplace(handle, std::move(made));
  return handle;
}

}  // namespace kernelcast::cudart
