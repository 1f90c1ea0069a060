#include "runtimes/cudart/keep.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "emulator/image.hpp"
#include "runtimes/attach/description.hpp"

namespace kernelcast::cudart {

namespace {

std::string_view word_of(emu::AddressMode mode) {
  switch (mode) {
    case emu::AddressMode::wrap:
      return "wrap";
    case emu::AddressMode::mirror:
      return "mirror";
    case emu::AddressMode::clamp_to_border:
      return "border";
    default:
      return "clamp";
  }
}

std::string sampler_words(emu::Sampler const& sampler, emu::Format const& format) {
  std::string out = sampler.filter == emu::Filter::linear ? ",linear" : "";
  if (sampler.normalized) out += ",normalized";
  for (std::size_t i = 0; i < 3; ++i) out += fmt::format(",{}={}", "xyz"[i], word_of(sampler.address[i]));
  if (!sampler.border) return out;
  std::string colour;
  for (auto const bits : *sampler.border) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    colour += (colour.empty() ? "" : ";") +
              (is_integer(format.type) ? fmt::format("{}", static_cast<std::int32_t>(bits)) : fmt::format("{}", value));
  }
  return out + ",border=" + colour;
}

std::string size_words(emu::Image const& image) {
  using enum emu::Geometry;
  switch (image.geometry) {
    case image_1d:
    case buffer_1d:
    case cube:
      return fmt::format("{}", image.width);
    case image_2d:
      return fmt::format("{}x{}", image.width, image.height);
    case array_1d:
    case cube_array:
      return fmt::format("{}x{}", image.width, image.layers);
    case image_3d:
      return fmt::format("{}x{}x{}", image.width, image.height, image.depth);
    case array_2d:
      break;
  }
  return fmt::format("{}x{}x{}", image.width, image.height, image.layers);
}

// What the application has in the emulator's memory.
class OnEmulator final : public attach::LaunchSource {
 public:
  OnEmulator(KeptLaunch::From const& from, Program const& program) : from_(from), program_(program) {}

  Block holding(std::uint64_t address) const override {
    auto const* const buffer = from_.memory.find(address);
    if (!buffer || buffer->freed) return {};
    if (buffer->undefined) throw attach::Refused{"it takes memory that kernels have allocated"};
    return {buffer->address, buffer->size};
  }
  void read(Block const& block, std::byte* to) const override {
    std::memcpy(to, reinterpret_cast<void const*>(block.address), block.bytes);
  }
  bool read_variable(ptx::Variable const& variable, std::vector<std::uint8_t>& value) const override {
    bool const in_memory = variable.space == ptx::StateSpace::global || variable.space == ptx::StateSpace::constant;
    if (!in_memory || variable.type >= ptx::Type::texref || variable.size == 0) return false;
    // Placed by now: the program has been loaded to be launched.
    auto const address = const_cast<emu::Memory&>(from_.memory).address_of(*program_.module, variable.name);
    if (address == 0) return false;
    std::memcpy(value.data(), reinterpret_cast<void const*>(address), value.size());
    if (value == at_first(variable)) return false;
    if (!attach::begins_as_address(variable)) return true;
    throw attach::Refused{
        fmt::format("variable '{}' of its program holds another address than at first", variable.name)};
  }
  bool has_own_tensor_maps() const override { return true; }
  std::optional<Picture> picture(std::uint64_t handle) const override {
    if (!from_.textures.find(handle)) return std::nullopt;
    std::string why;
    auto const* const texture = const_cast<emu::Memory&>(from_.memory).images().texture(handle, why);
    if (!texture) return std::nullopt;
    auto const& image = texture->image;
    auto const pitch = image.row_bytes ? fmt::format(",pitch={}", image.row_bytes) : std::string();
    auto const bytes = image.row_pitch() * image.height * image.slices();
    return Picture{fmt::format("image{}:{}{}{}:{}", name(image.geometry), name(image.format), pitch,
                               sampler_words(texture->sampler, image.format), size_words(image)),
                   {image.address, bytes}};
  }

 private:
  // What the program says of a variable, with the addresses of other ones as they are here.
  std::vector<std::uint8_t> at_first(ptx::Variable const& variable) const {
    auto const& module = *program_.module;
    auto const bytes = fresh_.bytes(fresh_.address_of(module, variable.name));
    std::vector<std::uint8_t> out(variable.size);
    std::memcpy(out.data(), bytes.data(), out.size());
    for (auto const& init : variable.initializers) {
      if (init.value.kind != ptx::Operand::Kind::variable || init.offset + init.bytes > out.size()) continue;
      auto const& named = module.variables[init.value.id].name;
      auto bits = init.value.value + const_cast<emu::Memory&>(from_.memory).address_of(module, named);
      if (init.mask_shift) bits = bits >> *init.mask_shift & 0xff;
      std::memcpy(out.data() + init.offset, &bits, init.bytes);
    }
    return out;
  }

  KeptLaunch::From const& from_;
  Program const& program_;
  mutable emu::Memory fresh_;  // no launch has run on it
};

}  // namespace

KeptLaunch::KeptLaunch(From const& from, Kernel const& kernel, LaunchRequest const& request, std::uint64_t number)
    : spool_(from.spool) {
  try {
    if (request.cooperative) throw attach::Refused{"all of its groups must run together"};
    attach::Sizes const sizes{request.grid, request.block, request.shared_bytes, request.cluster};
    text_ = attach::describe_launch({*kernel.program->module, *kernel.function, sizes, request.arguments},
                                    OnEmulator(from, *kernel.program), spool_, number);
    file_ = spool_.name("launch", number, ".toml");
    kept_ = true;
  } catch (attach::Refused const& refused) {
    text_ = kernel.name_in_rows + '\n' + refused.why + '\n';
    file_ = spool_.name("unkept", number, ".txt");
  }
}

void KeptLaunch::publish(std::string const& touched_before) const {
  bool const says = kept_ && !touched_before.empty();
  spool_.publish(file_, says ? text_ + "touched_before = \"" + touched_before + "\"\n" : text_);
}

}  // namespace kernelcast::cudart
