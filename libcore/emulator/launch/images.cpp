// Images, textures, surfaces and samplers: their description as text, and references bound by name.
//
//   (image|texture|surface)GEOMETRY:FORMAT[,WORD…]:SIZE:CONTENTS     sampler:WORD[,WORD…]
//
// The three names mean the same; an image that is read without a sampler of the kernel's own is read as the words say.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/diag/names.hpp"
#include "base/diag/text.hpp"
#include "emulator/launch/arguments.hpp"

namespace kernelcast::launch {

namespace {

using emu::AddressMode;
using emu::Geometry;

constexpr std::string_view heads[] = {"image", "texture", "surface"};
constexpr Geometry geometries[] = {Geometry::image_1d, Geometry::buffer_1d, Geometry::image_2d, Geometry::image_3d,
                                   Geometry::array_1d, Geometry::array_2d,  Geometry::cube,     Geometry::cube_array};
constexpr std::pair<std::string_view, AddressMode> modes[] = {
    {"wrap", AddressMode::wrap},           {"mirror", AddressMode::mirror},
    {"clamp", AddressMode::clamp_to_edge}, {"border", AddressMode::clamp_to_border},
    {"none", AddressMode::none},           {"mirror_once", AddressMode::mirror_once},
    {"clamp_ogl", AddressMode::clamp_ogl}};
constexpr std::string_view words_hint =
    "words are linear, nearest, normalized, and an address mode: clamp, border, wrap, mirror, mirror_once, clamp_ogl "
    "or "
    "none, for one dimension as y=wrap; border=0;0;0;1 gives the colour outside";

std::optional<Geometry> geometry_of(std::string_view head) {
  for (std::string_view const prefix : heads)
    if (head.starts_with(prefix))
      for (Geometry const g : geometries)
        if (name(g) == head.substr(prefix.size())) return g;
  return std::nullopt;
}

// "0;0.5;0;1": bits as a read gives them, integers for integer formats.
std::array<std::uint32_t, 4> border_colour(std::string_view text, bool integers, Text const& place) {
  auto const parts = split(text, ';');
  std::array<std::uint32_t, 4> colour{};
  auto const wrong = [&] {
    return refuse(place, fmt::format("'{}': border={} is not a colour", place.text, text),
                  "four numbers, such as border=0;0;0;1");
  };
  if (parts.size() != 4) throw wrong();
  for (std::size_t i = 0; i < 4; ++i) {
    auto const value = to_number<double>(parts[i]);
    if (!value || (integers && !(*value >= -0x1p31 && *value < 0x1p32))) throw wrong();
    colour[i] = integers ? static_cast<std::uint32_t>(static_cast<std::int64_t>(*value))
                         : std::bit_cast<std::uint32_t>(static_cast<float>(*value));
  }
  return colour;
}

// Whether this is a keyword of a sampler, which is then added.
bool sampler_word(std::string_view word, bool integers, Text const& place, emu::Sampler& sampler) {
  if (word == "linear" || word == "nearest") {
    sampler.filter = word == "linear" ? emu::Filter::linear : emu::Filter::nearest;
    return true;
  }
  if (word == "normalized") return sampler.normalized = true;
  if (word.starts_with("border=")) {
    sampler.border = border_colour(word.substr(7), integers, place);
    return true;
  }
  bool const one = word.size() > 2 && word[1] == '=' && word[0] >= 'x' && word[0] <= 'z';
  for (auto const& [text, mode] : modes) {
    if (text != (one ? word.substr(2) : word)) continue;
    if (one)
      sampler.address[static_cast<std::size_t>(word[0] - 'x')] = mode;
    else
      sampler.address.fill(mode);
    return true;
  }
  return false;
}

Error unknown_word(std::string_view word, Text const& place) {
  std::vector<std::string> known = {"linear", "nearest", "normalized"};
  for (auto const& [text, mode] : modes) known.emplace_back(text);
  auto const near = nearest(word, known);
  return refuse(place, fmt::format("'{}': unknown word '{}'", place.text, word),
                near.empty() ? std::string(words_hint) : did_you_mean(word, known));
}

struct ImageSizes {
  std::uint32_t* at[3];
  std::size_t count;
  std::string_view form;
};
ImageSizes sizes_of(emu::Image& shape) {
  switch (shape.geometry) {
    case Geometry::image_1d:
    case Geometry::buffer_1d:
      return {{&shape.width}, 1, "W"};
    case Geometry::cube:
      return {{&shape.width}, 1, "W, the side of its faces"};
    case Geometry::image_2d:
      return {{&shape.width, &shape.height}, 2, "WxH"};
    case Geometry::array_1d:
      return {{&shape.width, &shape.layers}, 2, "WxLAYERS"};
    case Geometry::cube_array:
      return {{&shape.width, &shape.layers}, 2, "WxCUBES"};
    case Geometry::image_3d:
      return {{&shape.width, &shape.height, &shape.depth}, 3, "WxHxD"};
    case Geometry::array_2d:
      break;
  }
  return {{&shape.width, &shape.height, &shape.layers}, 3, "WxHxLAYERS"};
}

void parse_sizes(std::string_view text, Text const& place, emu::Image& shape) {
  auto const parts = split(text, 'x');
  ImageSizes const sizes = sizes_of(shape);
  if (parts.size() != sizes.count)
    throw refuse(place, fmt::format("'{}': '{}' is not a size of {}", place.text, text, name(shape.geometry)),
                 fmt::format("its size is {}", sizes.form));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::int64_t const value = evaluate(parts[i], {}, place);
    if (value < 1 || value > std::int64_t{1} << 31)
      throw refuse(place, fmt::format("'{}': a size of {}", place.text, value), "sizes are numbers from 1");
    *sizes.at[i] = static_cast<std::uint32_t>(value);
  }
  if (shape.faces() == 6) shape.height = shape.width;
}

Element element_of(emu::ChannelType type) {
  using enum emu::ChannelType;
  switch (type) {
    case unorm8:
    case uint8:
      return Element::u8;
    case snorm8:
    case sint8:
      return Element::i8;
    case unorm16:
    case uint16:
      return Element::u16;
    case snorm16:
    case sint16:
      return Element::i16;
    case sint32:
      return Element::i32;
    case uint32:
      return Element::u32;
    case half:
      return Element::f16;
    case float32:
      break;
  }
  return Element::f32;
}

// The buffer that holds the texels: one of the plan's (buffer=NAME), or a new one.
std::size_t buffer_of(Image const& image, std::string_view contents, Text const& place, Plan& plan,
                      std::string const& folder) {
  std::uint64_t const bytes = image.shape.row_pitch() * image.shape.height * image.shape.slices();
  if (bytes > 0xffffffffu)
    throw refuse(place, fmt::format("'{}': {} bytes", place.text, bytes), "an image has less than 4 GiB");
  if (contents.starts_with("buffer=")) {
    auto const wanted = contents.substr(7);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
      names.push_back(plan.buffers[i].name);
      if (names.back() != wanted && std::to_string(i) != wanted) continue;
      if (plan.buffers[i].bytes() < image.shape.size_bytes())
        throw refuse(place,
                     fmt::format("'{}': {} bytes, but buffer '{}' has {}", place.text, image.shape.size_bytes(),
                                 names.back(), plan.buffers[i].bytes()),
                     "give a smaller size or a larger buffer");
      return i;
    }
    throw refuse(place, fmt::format("'{}': there is no buffer '{}'", place.text, wanted),
                 names.empty() ? "buffers are declared before images" : did_you_mean(wanted, names));
  }
  Element const element = element_of(image.shape.format.type);
  Text const text{fmt::format("{}:{}:{}", name(element), bytes / size_bytes(element), contents), place.where,
                  place.line};
  plan.buffers.push_back(parse_buffer(image.name, text, folder));
  return plan.buffers.size() - 1;
}

}  // namespace

bool is_image(std::string_view argument) {
  return std::any_of(std::begin(heads), std::end(heads),
                     [&](std::string_view head) { return argument.starts_with(head); }) &&
         argument.find(':') != std::string_view::npos;
}

std::size_t add_image(std::string name, Text const& text, Plan& plan, std::string const& folder) {
  Image image;
  image.name = std::move(name);
  std::string_view const all = text.text;
  auto const first = all.find(':'), second = all.find(':', first + 1), third = all.find(':', second + 1);
  auto const head = all.substr(0, first);
  auto const geometry = geometry_of(head);
  if (!geometry) {
    std::vector<std::string> known;
    for (std::string_view const prefix : heads)
      for (Geometry const g : geometries) known.push_back(std::string(prefix) + std::string(emu::name(g)));
    throw refuse(text, fmt::format("'{}': unknown kind of image '{}'", all, head), did_you_mean(head, known));
  }
  image.shape.geometry = *geometry;
  if (first == std::string_view::npos || second == std::string_view::npos || third == std::string_view::npos)
    throw refuse(text, fmt::format("'{}': a part is missing", all),
                 fmt::format("write {}:FORMAT:{}:CONTENTS, such as image2d:rgba8:640x480:random", head,
                             sizes_of(image.shape).form));
  auto const words = split(all.substr(first + 1, second - first - 1), ',');
  auto const format = emu::format_named(words[0]);
  if (!format)
    throw refuse(text, fmt::format("'{}': unknown format '{}'", all, words[0]),
                 did_you_mean(words[0], emu::format_names()));
  image.shape.format = *format;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].starts_with("pitch=")) {
      std::int64_t const bytes = evaluate(words[i].substr(6), {}, text);
      image.shape.row_bytes = bytes < 1 ? 1 : static_cast<std::uint64_t>(bytes);
    } else if (!sampler_word(words[i], is_integer(format->type), text, image.sampler)) {
      throw unknown_word(words[i], text);
    }
  }
  parse_sizes(all.substr(second + 1, third - second - 1), text, image.shape);
  std::uint64_t const row = std::uint64_t{image.shape.width} * format->texel_bytes();
  if (image.shape.row_pitch() < row || image.shape.row_pitch() % format->texel_bytes() != 0)
    throw refuse(text, fmt::format("'{}': rows {} bytes apart", all, image.shape.row_pitch()),
                 fmt::format("a row has {} bytes; the pitch is a multiple of {}", row, format->texel_bytes()));
  auto const contents = all.substr(third + 1);
  image.shares_buffer = contents.starts_with("buffer=");
  image.buffer = buffer_of(image, contents, text, plan, folder);
  plan.images.push_back(std::move(image));
  return plan.images.size() - 1;
}

std::size_t add_sampler(std::string_view words, Text const& text, Plan& plan) {
  emu::Sampler sampler;
  for (std::string_view const word : split(words, ','))
    if (!sampler_word(word, false, text, sampler)) throw unknown_word(word, text);
  plan.samplers.push_back(sampler);
  return plan.samplers.size() - 1;
}

void bind_references(Call const& call, ptx::Module const& module, Buffers const& buffers, emu::Memory& memory) {
  for (auto const& [wanted, argument] : call.bindings) {
    if (argument.kind != Argument::Kind::image && argument.kind != Argument::Kind::sampler)
      throw refuse(argument.origin, fmt::format("'{}' is neither an image nor a sampler", argument.origin.text),
                   fmt::format("reference '{}' is bound to one of these", wanted.text));
    std::vector<std::string> names;
    bool found = false;
    for (ptx::Variable const& v : module.variables) {
      bool const opaque =
          v.type == ptx::Type::texref || v.type == ptx::Type::surfref || v.type == ptx::Type::samplerref;
      bool const in_memory = v.space == ptx::StateSpace::global || v.space == ptx::StateSpace::constant;
      if (!opaque && (!in_memory || v.size < 8)) continue;
      std::string const plain = demangled(std::string(v.name));
      names.push_back(plain);
      if (v.name != wanted.text && plain != wanted.text) continue;
      memory.images().bind(std::string(v.name), buffers.handle(argument));
      found = true;
    }
    if (!found)
      throw refuse(wanted, fmt::format("there is no texture reference '{}'", wanted.text),
                   names.empty() ? "the file has none" : did_you_mean(wanted.text, names));
  }
}

}  // namespace kernelcast::launch
