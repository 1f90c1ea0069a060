// Images and samplers.
#include <algorithm>
#include <optional>

#include "runtimes/opencl/memory.hpp"

using namespace kernelcast::opencl;

Range _cl_mem::extent() const {
  auto const& d = description;
  switch (type) {
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      return {d.image_width, d.image_array_size, 1};
    case CL_MEM_OBJECT_IMAGE2D:
      return {d.image_width, d.image_height, 1};
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      return {d.image_width, d.image_height, d.image_array_size};
    case CL_MEM_OBJECT_IMAGE3D:
      return {d.image_width, d.image_height, d.image_depth};
    default:
      return {d.image_width, 1, 1};
  }
}

namespace kernelcast::opencl {

namespace {

struct Order {
  cl_channel_order name;
  emu::ChannelOrder order;
};
constexpr Order orders[] = {{CL_R, emu::ChannelOrder::r},
                            {CL_A, emu::ChannelOrder::a},
                            {CL_RG, emu::ChannelOrder::rg},
                            {CL_RA, emu::ChannelOrder::ra},
                            {CL_RGB, emu::ChannelOrder::rgb},
                            {CL_RGBA, emu::ChannelOrder::rgba},
                            {CL_BGRA, emu::ChannelOrder::bgra},
                            {CL_ARGB, emu::ChannelOrder::argb},
                            {CL_INTENSITY, emu::ChannelOrder::intensity},
                            {CL_LUMINANCE, emu::ChannelOrder::luminance}};
struct Type {
  cl_channel_type name;
  emu::ChannelType type;
};
constexpr Type types[] = {{CL_UNORM_INT8, emu::ChannelType::unorm8},     {CL_UNORM_INT16, emu::ChannelType::unorm16},
                          {CL_SNORM_INT8, emu::ChannelType::snorm8},     {CL_SNORM_INT16, emu::ChannelType::snorm16},
                          {CL_SIGNED_INT8, emu::ChannelType::sint8},     {CL_SIGNED_INT16, emu::ChannelType::sint16},
                          {CL_SIGNED_INT32, emu::ChannelType::sint32},   {CL_UNSIGNED_INT8, emu::ChannelType::uint8},
                          {CL_UNSIGNED_INT16, emu::ChannelType::uint16}, {CL_UNSIGNED_INT32, emu::ChannelType::uint32},
                          {CL_HALF_FLOAT, emu::ChannelType::half},       {CL_FLOAT, emu::ChannelType::float32}};

// The table of [opencl] 5.3.1.1: which types an order goes with.
bool possible(cl_channel_order order, cl_channel_type type) {
  bool const bytes =
      type == CL_UNORM_INT8 || type == CL_SNORM_INT8 || type == CL_SIGNED_INT8 || type == CL_UNSIGNED_INT8;
  bool const normalized = type == CL_UNORM_INT8 || type == CL_UNORM_INT16 || type == CL_SNORM_INT8 ||
                          type == CL_SNORM_INT16 || type == CL_HALF_FLOAT || type == CL_FLOAT;
  switch (order) {
    case CL_BGRA:
    case CL_ARGB:
      return bytes;
    case CL_INTENSITY:
    case CL_LUMINANCE:
      return normalized;
    case CL_RGB:
      return false;  // packed types alone
    default:
      return true;
  }
}

// Whether the header has such an enumerator.
bool is_order(cl_channel_order order) {
  return order >= CL_R && order <= CL_ABGR;
}
bool is_type(cl_channel_type type) {
  return type >= CL_SNORM_INT8 && type <= CL_UNORM_INT_101010_2;
}

std::optional<emu::Format> format_of(cl_image_format const& given) {
  auto const* const order = std::ranges::find(orders, given.image_channel_order, &Order::name);
  auto const* const type = std::ranges::find(types, given.image_channel_data_type, &Type::name);
  if (order == std::end(orders) || type == std::end(types) || !possible(order->name, type->name)) return std::nullopt;
  return emu::Format{order->order, type->type};
}

std::optional<emu::Geometry> geometry_of(cl_mem_object_type type) {
  switch (type) {
    case CL_MEM_OBJECT_IMAGE1D:
      return emu::Geometry::image_1d;
    case CL_MEM_OBJECT_IMAGE1D_BUFFER:
      return emu::Geometry::buffer_1d;
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      return emu::Geometry::array_1d;
    case CL_MEM_OBJECT_IMAGE2D:
      return emu::Geometry::image_2d;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      return emu::Geometry::array_2d;
    case CL_MEM_OBJECT_IMAGE3D:
      return emu::Geometry::image_3d;
    default:
      return std::nullopt;
  }
}

void check_image_size(cl_mem_object_type type, Range const& size) {
  constexpr std::size_t side = 16384, side_3d = 2048, layers = 2048, texels = 134217728;
  Range most{side, side, 1};
  if (type == CL_MEM_OBJECT_IMAGE1D_BUFFER) most = {texels, 1, 1};
  if (type == CL_MEM_OBJECT_IMAGE1D_ARRAY) most = {side, layers, 1};
  if (type == CL_MEM_OBJECT_IMAGE2D_ARRAY) most = {side, side, layers};
  if (type == CL_MEM_OBJECT_IMAGE3D) most = {side_3d, side_3d, side_3d};
  for (std::size_t d = 0; d < 3; ++d) require(size[d] <= most[d], CL_INVALID_IMAGE_SIZE);
}

cl_mem make_image(cl_context given, cl_mem_flags flags, cl_image_format const* format, cl_image_desc const* description,
                  void* host, std::vector<cl_mem_properties> properties) {
  auto& context = known_context(given);
  require(format != nullptr, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  require(description != nullptr, CL_INVALID_IMAGE_DESCRIPTOR);
  require(is_order(format->image_channel_order) && is_type(format->image_channel_data_type),
          CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  auto const known_format = format_of(*format);
  require(known_format.has_value(), CL_IMAGE_FORMAT_NOT_SUPPORTED);
  auto const geometry = geometry_of(description->image_type);
  require(geometry && description->num_mip_levels == 0 && description->num_samples == 0, CL_INVALID_IMAGE_DESCRIPTOR);
  auto made = std::make_unique<_cl_mem>();
  made->context = &context;
  made->type = description->image_type;
  made->format = *format;
  made->description = *description;
  made->texel_bytes = known_format->texel_bytes();
  made->properties = std::move(properties);
  auto const [width, height, depth] = made->extent();
  require(width > 0 && height > 0 && depth > 0, CL_INVALID_IMAGE_SIZE);
  check_image_size(made->type, {width, height, depth});
  auto const row_pitch = description->image_row_pitch, slice_pitch = description->image_slice_pitch;
  require(host || description->buffer || (row_pitch == 0 && slice_pitch == 0), CL_INVALID_IMAGE_DESCRIPTOR);
  require(row_pitch == 0 || (row_pitch >= width * made->texel_bytes && row_pitch % made->texel_bytes == 0),
          CL_INVALID_IMAGE_DESCRIPTOR);
  bool const rows_of_buffer = description->buffer && made->type == CL_MEM_OBJECT_IMAGE2D;
  made->row_bytes =
      rows_of_buffer && description->image_row_pitch ? description->image_row_pitch : width * made->texel_bytes;
  made->slice_bytes = made->row_bytes * (made->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 1 : height);
  std::size_t const bytes = made->row_bytes * height * depth;
  if (auto* const buffer = description->buffer) {
    auto& parent = known_buffer(buffer);
    require(host == nullptr, CL_INVALID_HOST_PTR);
    require(bytes <= parent.bytes, CL_INVALID_IMAGE_SIZE);
    made->flags = flags ? flags : parent.flags;
    made->parent = &parent;
    made->address = parent.address;
    made->bytes = bytes;
  } else {
    check_flags(flags, host);
    check_size(context, bytes);
    made->flags =
        flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY) ? flags : flags | CL_MEM_READ_WRITE;
    if (flags & CL_MEM_USE_HOST_PTR) {  // lies as the application has it
      bool const layers_of_rows = made->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
      if (row_pitch) made->row_bytes = row_pitch;
      if (layers_of_rows && slice_pitch) made->row_bytes = slice_pitch;
      made->slice_bytes =
          !layers_of_rows && slice_pitch ? slice_pitch : made->row_bytes * (layers_of_rows ? 1 : height);
      std::size_t const last =
          (depth - 1) * made->slice_bytes + (height - 1) * made->row_bytes + width * made->texel_bytes;
      place(*made, next_name("image"), last, host);
      if (made->data() != host) std::memcpy(made->data(), host, last);
    } else {
      place(*made, next_name("image"), bytes, nullptr);
    }
    if (host && made->data() != host && !made->host) {
      std::size_t const row = description->image_row_pitch ? description->image_row_pitch : width * made->texel_bytes;
      bool const layers_of_rows = made->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
      std::size_t const apart = layers_of_rows && description->image_slice_pitch ? description->image_slice_pitch : row;
      std::size_t const slice =
          !layers_of_rows && description->image_slice_pitch ? description->image_slice_pitch : apart * height;
      for (std::size_t z = 0; z < depth; ++z)
        for (std::size_t y = 0; y < height; ++y)
          std::memcpy(made->data() + (z * height + y) * made->row_bytes,
                      static_cast<std::byte const*>(host) + z * slice + y * apart, width * made->texel_bytes);
    }
  }
  emu::Image image;
  image.name = next_name("image of");
  image.geometry = *geometry;
  image.format = *known_format;
  bool const array = made->type == CL_MEM_OBJECT_IMAGE1D_ARRAY || made->type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
  image.width = static_cast<std::uint32_t>(width);
  image.height = made->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 1 : static_cast<std::uint32_t>(height);
  image.depth = array ? 1 : static_cast<std::uint32_t>(depth);
  image.layers = array ? static_cast<std::uint32_t>(description->image_array_size) : 1;
  image.address = made->address;
  image.row_bytes = made->row_bytes;
  image.slice_bytes = made->slice_bytes;
  made->handle = shared().memory.images().add(image);
  return made.release();
}

// ---------------------------------------------------------------- samplers

emu::AddressMode address_mode(cl_addressing_mode mode) {
  switch (mode) {
    case CL_ADDRESS_NONE:
      return emu::AddressMode::clamp_to_edge;  // what is outside is undefined
    case CL_ADDRESS_CLAMP_TO_EDGE:
      return emu::AddressMode::clamp_to_edge;
    case CL_ADDRESS_CLAMP:
      return emu::AddressMode::clamp_to_border;
    case CL_ADDRESS_REPEAT:
      return emu::AddressMode::wrap;
    case CL_ADDRESS_MIRRORED_REPEAT:
      return emu::AddressMode::mirror;
    default:
      throw Refusal{CL_INVALID_VALUE};
  }
}

cl_sampler make_sampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing, cl_filter_mode filter,
                        std::vector<cl_sampler_properties> properties) {
  auto made = std::make_unique<_cl_sampler>();
  made->context = &known_context(context);
  require(filter == CL_FILTER_NEAREST || filter == CL_FILTER_LINEAR, CL_INVALID_VALUE);
  made->normalized = normalized;
  made->addressing = addressing;
  made->filter = filter;
  made->properties = std::move(properties);
  emu::Sampler sampler;
  sampler.address.fill(address_mode(addressing));
  sampler.filter = filter == CL_FILTER_LINEAR ? emu::Filter::linear : emu::Filter::nearest;
  sampler.normalized = normalized != CL_FALSE;
  made->handle = shared().memory.images().add(sampler);
  return made.release();
}

}  // namespace

namespace api {

cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags, cl_image_format const* format,
                                 cl_image_desc const* description, void* host, cl_int* error) {
  return make(error, [&](Lock&) { return make_image(context, flags, format, description, host, {}); });
}
cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context, cl_mem_properties const* properties,
                                               cl_mem_flags flags, cl_image_format const* format,
                                               cl_image_desc const* description, void* host, cl_int* error) {
  return make(error, [&](Lock&) {
    require(!properties || !*properties, CL_INVALID_PROPERTY);
    return make_image(context, flags, format, description, host, list_of(properties));
  });
}
cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags, cl_image_format const* format,
                                   std::size_t width, std::size_t height, std::size_t row_pitch, void* host,
                                   cl_int* error) {
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = width;
  description.image_height = height;
  description.image_row_pitch = row_pitch;
  return api::clCreateImage(context, flags, format, &description, host, error);
}
cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags, cl_image_format const* format,
                                   std::size_t width, std::size_t height, std::size_t depth, std::size_t row_pitch,
                                   std::size_t slice_pitch, void* host, cl_int* error) {
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE3D;
  description.image_width = width;
  description.image_height = height;
  description.image_depth = depth;
  description.image_row_pitch = row_pitch;
  description.image_slice_pitch = slice_pitch;
  return api::clCreateImage(context, flags, format, &description, host, error);
}

cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type type,
                                              cl_uint capacity, cl_image_format* out, cl_uint* count) {
  return call([&](Lock&) {
    auto const& in = known_context(context);
    require(geometry_of(type).has_value(), CL_INVALID_VALUE);
    bool const both = (flags & CL_MEM_KERNEL_READ_AND_WRITE) != 0;  // which not all devices have
    bool const some =
        std::ranges::any_of(in.devices, [](auto const* device) { return device->writes_what_it_reads(); });
    std::vector<cl_image_format> all;
    if (!both || some)
      for (auto const& order : orders)
        for (auto const& channel : types)
          if (possible(order.name, channel.name)) all.push_back({order.name, channel.name});
    require(!out || capacity > 0, CL_INVALID_VALUE);
    if (count) *count = static_cast<cl_uint>(all.size());
    if (out) std::copy_n(all.begin(), std::min<std::size_t>(capacity, all.size()), out);
  });
}

cl_int CL_API_CALL clGetImageInfo(cl_mem given, cl_image_info what, std::size_t capacity, void* value,
                                  std::size_t* bytes) {
  return call([&](Lock&) {
    auto const& image = known_image(given);
    auto const& d = image.description;
    bool const array = image.type == CL_MEM_OBJECT_IMAGE1D_ARRAY || image.type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    bool const has_height = image.type == CL_MEM_OBJECT_IMAGE2D || image.type == CL_MEM_OBJECT_IMAGE3D ||
                            image.type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    Answer const answer{capacity, value, bytes};
    switch (what) {
      case CL_IMAGE_FORMAT:
        return answer(image.format);
      case CL_IMAGE_ELEMENT_SIZE:
        return answer(image.texel_bytes);
      case CL_IMAGE_ROW_PITCH:
        return answer(image.row_bytes);
      case CL_IMAGE_SLICE_PITCH:
        return answer(array || image.type == CL_MEM_OBJECT_IMAGE3D ? image.slice_bytes : std::size_t{0});
      case CL_IMAGE_WIDTH:
        return answer(d.image_width);
      case CL_IMAGE_HEIGHT:
        return answer(has_height ? d.image_height : std::size_t{0});
      case CL_IMAGE_DEPTH:
        return answer(image.type == CL_MEM_OBJECT_IMAGE3D ? d.image_depth : std::size_t{0});
      case CL_IMAGE_ARRAY_SIZE:
        return answer(array ? d.image_array_size : std::size_t{0});
      case CL_IMAGE_BUFFER:
        return answer(image.parent.get());
      case CL_IMAGE_NUM_MIP_LEVELS:
      case CL_IMAGE_NUM_SAMPLES:
        return answer(cl_uint{0});
      default:
        return cl_int{CL_INVALID_VALUE};
    }
  });
}

cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing,
                                       cl_filter_mode filter, cl_int* error) {
  return make(error, [&](Lock&) { return make_sampler(context, normalized, addressing, filter, {}); });
}
cl_sampler CL_API_CALL clCreateSamplerWithProperties(cl_context context, cl_sampler_properties const* given,
                                                     cl_int* error) {
  return make(error, [&](Lock&) {
    cl_bool normalized = CL_TRUE;
    cl_addressing_mode addressing = CL_ADDRESS_CLAMP;
    cl_filter_mode filter = CL_FILTER_NEAREST;
    auto const list = list_of(given);
    for (std::size_t i = 0; i + 1 < list.size(); i += 2) {
      auto const number = list[i + 1];
      if (list[i] == CL_SAMPLER_NORMALIZED_COORDS)
        normalized = static_cast<cl_bool>(number);
      else if (list[i] == CL_SAMPLER_ADDRESSING_MODE)
        addressing = static_cast<cl_addressing_mode>(number);
      else if (list[i] == CL_SAMPLER_FILTER_MODE)
        filter = static_cast<cl_filter_mode>(number);
      else
        throw Refusal{CL_INVALID_VALUE};
    }
    return make_sampler(context, normalized, addressing, filter, list);
  });
}
cl_int CL_API_CALL clRetainSampler(cl_sampler sampler) {
  return retain(sampler, Kind::sampler, CL_INVALID_SAMPLER);
}
cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler) {
  return release(sampler, Kind::sampler, CL_INVALID_SAMPLER);
}
cl_int CL_API_CALL clGetSamplerInfo(cl_sampler given, cl_sampler_info what, std::size_t capacity, void* value,
                                    std::size_t* bytes) {
  return call([&](Lock&) {
    auto const& sampler = known(given, Kind::sampler, CL_INVALID_SAMPLER);
    Answer const answer{capacity, value, bytes};
    switch (what) {
      case CL_SAMPLER_REFERENCE_COUNT:
        return answer(sampler.references);
      case CL_SAMPLER_CONTEXT:
        return answer(sampler.context.get());
      case CL_SAMPLER_NORMALIZED_COORDS:
        return answer(sampler.normalized);
      case CL_SAMPLER_ADDRESSING_MODE:
        return answer(sampler.addressing);
      case CL_SAMPLER_FILTER_MODE:
        return answer(sampler.filter);
      case CL_SAMPLER_PROPERTIES:
        return answer(sampler.properties);
      default:
        return cl_int{CL_INVALID_VALUE};
    }
  });
}

}  // namespace api
}  // namespace kernelcast::opencl
