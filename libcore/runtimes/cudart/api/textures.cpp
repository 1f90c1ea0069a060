// Texture and surface objects.
#include <bit>

#include <fmt/format.h>

#include "emulator/emu.hpp"
#include "runtimes/cudart/arrays.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/textures.hpp"

using namespace kernelcast;
using namespace kernelcast::cudart;

namespace {

using Handle = Textures::Handle;

emu::AddressMode mode_of(TextureAddress mode) {
  switch (mode) {
    case TextureAddress::wrap:
      return emu::AddressMode::wrap;
    case TextureAddress::mirror:
      return emu::AddressMode::mirror;
    case TextureAddress::border:
      return emu::AddressMode::clamp_to_border;
    case TextureAddress::clamp:
      break;
  }
  return emu::AddressMode::clamp_to_edge;
}

emu::Sampler sampler_of(TextureDescription const& t, bool linear_memory, emu::Format const& format) {
  emu::Sampler out;
  for (std::size_t i = 0; i < 3; ++i) out.address[i] = mode_of(t.address[i]);
  out.filter = t.filter == TextureFilter::linear ? emu::Filter::linear : emu::Filter::nearest;
  out.normalized = t.normalized_coordinates != 0;
  std::array<std::uint32_t, 4> border{};
  for (std::size_t i = 0; i < 4; ++i)
    border[i] = emu::is_integer(format.type) ? static_cast<std::uint32_t>(static_cast<std::int64_t>(t.border[i]))
                                             : std::bit_cast<std::uint32_t>(t.border[i]);
  out.border = border;
  // [cuda] tex1Dfetch reads 0 outside, whatever the mode.
  if (linear_memory) {
    out.address.fill(emu::AddressMode::clamp_to_border);
    out.border = std::array<std::uint32_t, 4>{};
  }
  return out;
}

// A device does not compare a texture with the memory that it lies in. Reads behind that memory find nothing here.
std::uint64_t bytes_of_memory(emu::Memory const& memory, void const* pointer, std::uint64_t bytes) {
  auto const address = reinterpret_cast<std::uint64_t>(pointer);
  auto const* const buffer = memory.find(address);
  if (!buffer) return bytes;
  auto const there = buffer->size - (address - buffer->address);
  if (bytes <= there) return bytes;
  report(fmt::format("a texture of {} bytes of linear memory ends after {}, with this memory", bytes, there));
  return there;
}

// The image of a resource; an empty name where there is none.
Code image_of(Arrays const& arrays, emu::Memory const& memory, ResourceDescription const& r, bool normalized,
              emu::Image& image) {
  ChannelFormat format{};
  switch (r.type) {
    case ResourceType::array:
      if (!arrays.known(r.array)) return Code::invalid_value;
      image = shape_of(*r.array);
      format = r.array->format;
      break;
    case ResourceType::linear:
      format = r.linear.format;
      if (texel_bytes(format) == 0) return Code::invalid_channel_descriptor;
      image.name = "linear memory";
      image.geometry = emu::Geometry::image_1d;
      image.width =
          static_cast<std::uint32_t>(bytes_of_memory(memory, r.linear.pointer, r.linear.bytes) / texel_bytes(format));
      image.address = reinterpret_cast<std::uint64_t>(r.linear.pointer);
      break;
    case ResourceType::pitch_2d:
      format = r.pitch_2d.format;
      image.name = "pitched memory";
      image.geometry = emu::Geometry::image_2d;
      image.width = static_cast<std::uint32_t>(r.pitch_2d.width);
      image.height = static_cast<std::uint32_t>(r.pitch_2d.height);
      image.row_bytes = r.pitch_2d.pitch;
      image.address = reinterpret_cast<std::uint64_t>(r.pitch_2d.pointer);
      break;
    case ResourceType::mipmapped_array:
      return unsupported("cudaCreateTextureObject of a mipmapped array");
  }
  auto const known = format_of(format, normalized);
  if (!known) return Code::invalid_channel_descriptor;
  image.format = *known;
  return Code::success;
}

TextureObject const* object(Textures const& textures, Handle handle, bool is_surface) {
  auto const* const found = textures.find(handle);
  return found && found->is_surface == is_surface ? found : nullptr;
}

Code destroy(Handle handle, bool is_surface) {
  return call([&](Textures& textures) {
    if (handle == 0) return Code::success;
    if (!object(textures, handle, is_surface)) return Code::invalid_value;
    textures.remove(handle);
    return Code::success;
  });
}

template <class Query>
Code query_object(Handle handle, bool is_surface, Query query) {
  return call([&](Textures& textures) {
    auto const* const found = object(textures, handle, is_surface);
    if (!found) return Code::invalid_value;
    query(*found);
    return Code::success;
  });
}

}  // namespace

KERNELCAST_CUDA_EXPORT Code cudaCreateTextureObject(Handle* out, ResourceDescription const* resource,
                                                    TextureDescription const* texture, ResourceView const* view) {
  return call([&](Arrays& arrays, emu::Memory& memory, Textures& textures) {
    if (!out || !resource || !texture) return Code::invalid_value;
    if (view && view->format != 0) return unsupported("cudaCreateTextureObject with a view of the resource");
    if (texture->srgb) return unsupported("cudaCreateTextureObject with sRGB");
    emu::Image image;
    auto const code = image_of(arrays, memory, *resource, texture->read == TextureRead::normalized_float, image);
    if (code != Code::success) return code;
    if (texture->filter == TextureFilter::linear && emu::is_integer(image.format.type))
      return Code::invalid_filter_setting;
    auto const sampler = sampler_of(*texture, resource->type == ResourceType::linear, image.format);
    *out = textures.add({*resource, *texture, false}, std::move(image), sampler);
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaCreateSurfaceObject(Handle* out, ResourceDescription const* resource) {
  return call([&](Arrays& arrays, emu::Memory& memory, Textures& textures) {
    if (!out || !resource || resource->type != ResourceType::array) return Code::invalid_value;
    emu::Image image;
    auto const code = image_of(arrays, memory, *resource, false, image);
    if (code != Code::success) return code;
    *out = textures.add({*resource, {}, true}, std::move(image), {});
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaDestroyTextureObject(Handle handle) {
  return destroy(handle, false);
}
KERNELCAST_CUDA_EXPORT Code cudaDestroySurfaceObject(Handle handle) {
  return destroy(handle, true);
}
KERNELCAST_CUDA_EXPORT Code cudaGetTextureObjectResourceDesc(ResourceDescription* out, Handle handle) {
  return query_object(handle, false, [&](TextureObject const& t) { *out = t.resource; });
}
KERNELCAST_CUDA_EXPORT Code cudaGetTextureObjectTextureDesc(TextureDescription* out, Handle handle) {
  return query_object(handle, false, [&](TextureObject const& t) { *out = t.texture; });
}
KERNELCAST_CUDA_EXPORT Code cudaGetTextureObjectResourceViewDesc(ResourceView* out, Handle handle) {
  return query_object(handle, false, [&](TextureObject const&) { *out = {}; });
}
KERNELCAST_CUDA_EXPORT Code cudaGetSurfaceObjectResourceDesc(ResourceDescription* out, Handle handle) {
  return query_object(handle, true, [&](TextureObject const& t) { *out = t.resource; });
}
