// The registry of images and samplers; names of formats and geometries.
#include "emulator/image.hpp"

#include <algorithm>
#include <utility>

#include "base/diag/diag.hpp"
#include "emulator/emu.hpp"

namespace kernelcast::emu {

namespace {

// Handles: a tag that is not an address of the emulated device, and a number.
constexpr unsigned tag_shift = 48;
constexpr std::uint64_t image_tag = 0x7e01, sampler_tag = 0x7e02;
constexpr std::uint32_t literal_count = 64;

constexpr std::string_view geometry_names[] = {"1d",       "1d_buffer", "2d",   "3d",
                                               "1d_array", "2d_array",  "cube", "cube_array"};
constexpr std::pair<std::string_view, ChannelOrder> orders[] = {
    {"r", ChannelOrder::r},         {"a", ChannelOrder::a},        {"rg", ChannelOrder::rg},
    {"ra", ChannelOrder::ra},       {"rgb", ChannelOrder::rgb},    {"rgba", ChannelOrder::rgba},
    {"bgra", ChannelOrder::bgra},   {"argb", ChannelOrder::argb},  {"abgr", ChannelOrder::abgr},
    {"i", ChannelOrder::intensity}, {"l", ChannelOrder::luminance}};
constexpr std::pair<std::string_view, ChannelType> types[] = {
    {"8", ChannelType::unorm8},         {"16", ChannelType::unorm16}, {"8_snorm", ChannelType::snorm8},
    {"16_snorm", ChannelType::snorm16}, {"8i", ChannelType::sint8},   {"16i", ChannelType::sint16},
    {"32i", ChannelType::sint32},       {"8ui", ChannelType::uint8},  {"16ui", ChannelType::uint16},
    {"32ui", ChannelType::uint32},      {"16f", ChannelType::half},   {"32f", ChannelType::float32}};

std::string number(std::uint64_t n) {
  return std::to_string(n);
}

bool is_array(Geometry g) {
  return g == Geometry::array_1d || g == Geometry::array_2d || g == Geometry::cube_array;
}
bool is_flat(Geometry g) {  // one row
  return g == Geometry::image_1d || g == Geometry::buffer_1d || g == Geometry::array_1d;
}

std::string_view word(ptx::Module const& module, std::uint64_t value) {
  return value >= 1 << 16 ? module.slice(value) : std::string_view{};
}

// The fields of an opaque variable that concern sampling.
Sampler sampler_of_fields(ptx::Module const& module, ptx::Variable const& variable) {
  static constexpr std::string_view modes[] = {"wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border"};
  Sampler sampler;
  sampler.normalized = variable.type == ptx::Type::samplerref;
  for (auto const& [field, value] : variable.attributes) {
    std::string_view const text = word(module, value);
    bool const yes = text.empty() ? value != 0 : text == "true" || text == "True";
    if (field == "filter_mode")
      sampler.filter = text == "linear" || (text.empty() && value) ? Filter::linear : Filter::nearest;
    if (field == "normalized_coords") sampler.normalized = yes;
    if (field == "force_unnormalized_coords") sampler.normalized = !yes;
    if (field.starts_with("addr_mode_") && field.back() >= '0' && field.back() <= '2') {
      auto const* const mode = std::find(std::begin(modes), std::end(modes), text);
      auto const at = text.empty() ? std::min<std::uint64_t>(value, 4) : static_cast<std::uint64_t>(mode - modes);
      if (at < std::size(modes))
        sampler.address[static_cast<std::size_t>(field.back() - '0')] = static_cast<AddressMode>(at);
    }
  }
  return sampler;
}

}  // namespace

std::string_view name(Geometry geometry) {
  return geometry_names[static_cast<std::size_t>(geometry)];
}

unsigned size_bytes(ChannelType type) {
  static constexpr unsigned bytes[] = {1, 2, 1, 2, 1, 2, 4, 1, 2, 4, 2, 4};
  return bytes[static_cast<std::size_t>(type)];
}

bool is_integer(ChannelType type) {
  return type >= ChannelType::sint8 && type <= ChannelType::uint32;
}

unsigned channels(ChannelOrder order) {
  static constexpr unsigned counts[] = {1, 1, 2, 2, 3, 4, 4, 4, 4, 1, 1};
  return counts[static_cast<std::size_t>(order)];
}

bool has_alpha(ChannelOrder order) {
  return order != ChannelOrder::r && order != ChannelOrder::rg && order != ChannelOrder::rgb &&
         order != ChannelOrder::luminance;
}

std::string name(Format format) {
  std::string text;
  for (auto const& [letters, order] : orders)
    if (order == format.order) text = letters;
  for (auto const& [digits, type] : types)
    if (type == format.type) text += digits;
  return text;
}

std::optional<Format> format_named(std::string_view text) {
  auto const digits = text.find_first_of("0123456789");
  if (digits == std::string_view::npos) return std::nullopt;
  for (auto const& [letters, order] : orders)
    for (auto const& [rest, type] : types)
      if (letters == text.substr(0, digits) && rest == text.substr(digits)) return Format{order, type};
  return std::nullopt;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (auto const& [letters, order] : orders)
    for (auto const& [rest, type] : types) names.push_back(std::string(letters) + std::string(rest));
  return names;
}

std::uint64_t Image::size_bytes() const {
  return (slices() - 1) * slice_pitch() + std::uint64_t{height - 1} * row_pitch() +
         std::uint64_t{width} * format.texel_bytes();
}

Sampler sampler_of_literal(std::uint32_t bits) {
  // [opencl] CLK_ADDRESS_NONE 0, CLAMP_TO_EDGE 2, CLAMP 4, REPEAT 6, MIRRORED_REPEAT 8; normalised 1; linear 0x20.
  static constexpr AddressMode modes[] = {AddressMode::none, AddressMode::clamp_to_edge, AddressMode::clamp_to_border,
                                          AddressMode::wrap, AddressMode::mirror};
  Sampler sampler;
  sampler.address.fill(modes[std::min(bits >> 1 & 7, 4u)]);
  sampler.normalized = bits & 1;
  sampler.filter = bits & 0x20 ? Filter::linear : Filter::nearest;
  return sampler;
}

namespace {

std::vector<Sampler> all_literals() {
  std::vector<Sampler> all;
  for (std::uint32_t bits = 0; bits < literal_count; ++bits) all.push_back(sampler_of_literal(bits));
  return all;
}

}  // namespace

Images::Images(Memory& memory) : memory_(memory) {}

std::uint64_t Images::add(Image image, Sampler const& sampler) {
  auto const wrong = [&](std::string const& why, std::string hint) {
    return Error(Status::usage, "image '" + image.name + "': " + why, std::move(hint));
  };
  if (image.width == 0 || image.height == 0 || image.depth == 0 || image.layers == 0)
    throw wrong("a size of 0", "every dimension must be at least 1");
  if ((is_flat(image.geometry) && image.height != 1) || (image.geometry != Geometry::image_3d && image.depth != 1) ||
      (!is_array(image.geometry) && image.layers != 1))
    throw wrong("a size in more dimensions than " + std::string(name(image.geometry)) + " has", "leave the others 1");
  if (image.faces() == 6 && image.width != image.height)
    throw wrong("a cube's faces of " + number(image.width) + "x" + number(image.height), "faces are square");
  unsigned const texel = image.format.texel_bytes();
  if (image.row_pitch() < std::uint64_t{image.width} * texel || image.row_pitch() % texel != 0)
    throw wrong("rows " + number(image.row_pitch()) + " bytes apart",
                "a row has " + number(std::uint64_t{image.width} * texel) + " bytes; the pitch is a multiple of " +
                    number(texel));
  Memory::Buffer const* const buffer = memory_.find(image.address);
  std::uint64_t const bytes = image.size_bytes();
  if (!buffer || bytes > buffer->size - (image.address - buffer->address))
    throw wrong("its " + number(bytes) + " bytes are not all in one buffer", "make the buffer larger");
  if (bytes > 0xffffffffu) throw wrong(number(bytes) + " bytes", "an image has less than 4 GiB");
  auto texture = std::make_unique<Texture>();
  texture->texels = buffer->data + (image.address - buffer->address);
  texture->image = std::move(image);
  texture->sampler = sampler;
  textures_.push_back(std::move(texture));
  return image_tag << tag_shift | textures_.size();
}

std::uint64_t Images::add(Sampler const& sampler) {
  samplers_.push_back(std::make_unique<Sampler>(sampler));
  return sampler_tag << tag_shift | samplers_.size();
}

bool Images::remove(std::uint64_t handle) {
  std::uint64_t const index = handle & 0xffffffffu;
  if (handle >> tag_shift != image_tag || index < 1 || index > textures_.size()) return false;
  return std::exchange(textures_[index - 1], nullptr) != nullptr;
}

void Images::bind(std::string variable, std::uint64_t handle) {
  bindings_.insert_or_assign(std::move(variable), handle);
}

void Images::place_variable(std::uint64_t address, ptx::Module const& module, ptx::Variable const& variable) {
  variables_[address] = {std::string(variable.name), variable.type, sampler_of_fields(module, variable)};
}

Images::Variable const* Images::variable(std::uint64_t address) const {
  auto const found = variables_.find(address);
  return found == variables_.end() ? nullptr : &found->second;
}

std::uint64_t Images::bound(std::uint64_t handle) const {
  Variable const* const v = variable(handle);
  if (!v) return handle;
  auto const found = bindings_.find(v->name);
  return found == bindings_.end() ? handle : found->second;
}

Images::Texture const* Images::texture(std::uint64_t handle, std::string& why) const {
  std::uint64_t const number_of = bound(handle), index = number_of & 0xffffffffu;
  if (number_of >> tag_shift == image_tag && index >= 1 && index <= textures_.size() && textures_[index - 1])
    return textures_[index - 1].get();
  if (Variable const* const v = variable(handle))
    why = "'" + v->name + "' is bound to no image";
  else if (handle == 0)
    why = "a null handle is not an image";
  else if (Memory::Buffer const* const buffer = memory_.find(handle))
    why = "an address in buffer '" + buffer->name + "' is not an image";
  else
    why = "the value " + number(handle) + " is not an image";
  return nullptr;
}

Sampler const* Images::sampler(std::uint64_t handle, std::string& why) const {
  std::uint64_t const number_of = bound(handle), index = number_of & 0xffffffffu;
  if (number_of >> tag_shift == sampler_tag && index >= 1 && index <= samplers_.size())
    return samplers_[index - 1].get();
  if (number_of >> tag_shift == image_tag && index >= 1 && index <= textures_.size() && textures_[index - 1])
    return &textures_[index - 1]->sampler;
  if (Variable const* const v = variable(handle)) return &v->sampler;
  static std::vector<Sampler> const literals = all_literals();
  if (handle < literal_count && (handle & 0xe) <= 8) return &literals[handle];
  why = "the value " + number(handle) + " is not a sampler";
  return nullptr;
}

ptx::Type Images::type_of(std::uint64_t handle) const {
  if (Variable const* const v = variable(handle)) return v->type;
  if (handle >> tag_shift == image_tag) return ptx::Type::texref;
  if (handle >> tag_shift == sampler_tag) return ptx::Type::samplerref;
  return ptx::Type::none;
}

}  // namespace kernelcast::emu
