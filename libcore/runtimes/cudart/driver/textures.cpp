// Arrays, textures, surfaces.
#include "runtimes/cudart/textures.hpp"

#include <optional>

#include "runtimes/cudart/arrays.hpp"
#include "runtimes/cudart/driver/call.hpp"

using namespace kernelcast;
using namespace kernelcast::driver;
using cudart::ChannelFormat;
using cudart::ChannelKind;
using cudart::ResourceType;
using Handle = cudart::Textures::Handle;

KERNELCAST_OF_RUNTIME(cudaMalloc3DArray, Array**, ChannelFormat const*, cudart::Extent, unsigned);
KERNELCAST_OF_RUNTIME(cudaArrayGetInfo, ChannelFormat*, cudart::Extent*, unsigned*, Array*);
KERNELCAST_OF_RUNTIME(cudaCreateTextureObject, Handle*, cudart::ResourceDescription const*,
                      cudart::TextureDescription const*, cudart::ResourceView const*);
KERNELCAST_OF_RUNTIME(cudaCreateSurfaceObject, Handle*, cudart::ResourceDescription const*);

namespace {

// Empty where there is no such format.
std::optional<ChannelFormat> channels_of(ArrayFormat format, unsigned channels) {
  int bits = 0;
  auto kind = ChannelKind::unsigned_integer;
  switch (format) {
    case ArrayFormat::u8:
    case ArrayFormat::s8:
      bits = 8;
      break;
    case ArrayFormat::u16:
    case ArrayFormat::s16:
    case ArrayFormat::f16:
      bits = 16;
      break;
    case ArrayFormat::u32:
    case ArrayFormat::s32:
    case ArrayFormat::f32:
      bits = 32;
  }
  if (bits == 0 || (channels != 1 && channels != 2 && channels != 4)) return std::nullopt;
  if (format >= ArrayFormat::s8) kind = ChannelKind::signed_integer;
  if (format >= ArrayFormat::f16) kind = ChannelKind::floating;
  return ChannelFormat{bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, kind};
}

ArrayFormat format_of(ChannelFormat const& channels) {
  switch (channels.kind) {
    case ChannelKind::floating:
      return channels.x == 16 ? ArrayFormat::f16 : ArrayFormat::f32;
    case ChannelKind::signed_integer:
      return channels.x == 8 ? ArrayFormat::s8 : channels.x == 16 ? ArrayFormat::s16 : ArrayFormat::s32;
    default:
      return channels.x == 8 ? ArrayFormat::u8 : channels.x == 16 ? ArrayFormat::u16 : ArrayFormat::u32;
  }
}

unsigned channel_count(ChannelFormat const& channels) {
  return 1u + (channels.y > 0) + (channels.z > 0) + (channels.w > 0);
}

Code make_array(Array** out, Array3DDescription const& given) {
  if (!current_context()) return no_context();
  auto const channels = channels_of(given.format, given.channels);
  if (!out || !channels) return Code::invalid_value;
  return of_runtime_call(
      [&] { return cudaMalloc3DArray(out, &*channels, {given.width, given.height, given.depth}, given.flags); });
}

// False where the format is none.
bool of_driver(ResourceDescription const& given, cudart::ResourceDescription& out) {
  out = {};
  out.type = given.kind;
  switch (given.kind) {
    case ResourceType::linear: {
      auto const& linear = given.resource.linear;
      auto const channels = channels_of(linear.format, linear.channels);
      if (channels) out.linear = {pointer_of(linear.address), *channels, linear.bytes};
      return channels.has_value();
    }
    case ResourceType::pitch_2d: {
      auto const& plane = given.resource.pitch_2d;
      auto const channels = channels_of(plane.format, plane.channels);
      if (channels) out.pitch_2d = {pointer_of(plane.address), *channels, plane.width, plane.height, plane.pitch};
      return channels.has_value();
    }
    default:
      out.array = given.resource.array;
      return true;
  }
}

// Integers of 8 and 16 bits are read as fractions unless they are to be read as integers; all else is read as it is.
cudart::TextureDescription of_driver(TextureDescription const& given, ChannelFormat const& channels) {
  cudart::TextureDescription out{};
  for (int i = 0; i < 3; ++i) out.address[i] = given.address[i];
  for (int i = 0; i < 4; ++i) out.border[i] = given.border[i];
  out.filter = given.filter;
  bool const is_fraction = channels.kind != ChannelKind::floating && channels.x < 32;
  bool const as_they_are = !is_fraction || (given.flags & texture_read_as_integer) != 0;
  out.read = as_they_are ? cudart::TextureRead::element_type : cudart::TextureRead::normalized_float;
  out.srgb = (given.flags & texture_srgb) != 0;
  out.normalized_coordinates = (given.flags & texture_normalized_coordinates) != 0;
  out.max_anisotropy = given.max_anisotropy;
  out.mipmap_filter = given.mipmap_filter;
  return out;
}

ChannelFormat channels_of(cudart::Arrays const& arrays, cudart::ResourceDescription const& resource) {
  switch (resource.type) {
    case ResourceType::linear:
      return resource.linear.format;
    case ResourceType::pitch_2d:
      return resource.pitch_2d.format;
    case ResourceType::array:
      if (arrays.known(resource.array)) return resource.array->format;
      break;
    default:
      break;
  }
  return {};  // to be refused
}

}  // namespace

KERNELCAST_CUDA_EXPORT Code cuArrayCreate_v2(Array** out, ArrayDescription const* given) {
  if (!given) return Code::invalid_value;
  return make_array(out, {given->width, given->height, 0, given->format, given->channels, 0});
}
KERNELCAST_CUDA_EXPORT Code cuArray3DCreate_v2(Array** out, Array3DDescription const* given) {
  return given ? make_array(out, *given) : Code::invalid_value;
}
KERNELCAST_CUDA_EXPORT Code cuArray3DGetDescriptor_v2(Array3DDescription* out, Array* array) {
  if (!out) return Code::invalid_value;
  ChannelFormat channels{};
  cudart::Extent extent{};
  unsigned flags = 0;
  auto const code = of_runtime_call([&] { return cudaArrayGetInfo(&channels, &extent, &flags, array); });
  if (code == Code::success)
    *out = {extent.width, extent.height, extent.depth, format_of(channels), channel_count(channels), flags};
  return code;
}
KERNELCAST_CUDA_EXPORT Code cuArrayGetDescriptor_v2(ArrayDescription* out, Array* array) {
  Array3DDescription all{};
  auto const code = cuArray3DGetDescriptor_v2(&all, array);
  if (!out) return Code::invalid_value;
  if (code == Code::success) *out = {all.width, all.height, all.format, all.channels};
  return code;
}

KERNELCAST_CUDA_EXPORT Code cuTexObjectCreate(Handle* out, ResourceDescription const* resource,
                                              TextureDescription const* texture, cudart::ResourceView const* view) {
  if (!current_context()) return no_context();
  cudart::ResourceDescription made{};
  if (!resource || !texture || !of_driver(*resource, made)) return Code::invalid_value;
  auto const channels = cudart::locked([&](cudart::Arrays& arrays) { return channels_of(arrays, made); });
  auto const described = of_driver(*texture, channels);
  return of_runtime_call([&] { return cudaCreateTextureObject(out, &made, &described, view); });
}
KERNELCAST_CUDA_EXPORT Code cuSurfObjectCreate(Handle* out, ResourceDescription const* resource) {
  if (!current_context()) return no_context();
  cudart::ResourceDescription made{};
  if (!resource || !of_driver(*resource, made)) return Code::invalid_value;
  return of_runtime_call([&] { return cudaCreateSurfaceObject(out, &made); });
}
