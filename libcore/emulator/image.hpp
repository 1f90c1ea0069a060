// Images of the emulated device: what textures, surfaces and samplers refer to.
//
// Problem: a kernel names a texture, a surface or a sampler by an opaque 64-bit handle, or by a variable of the module.
// Method: an Image describes texels that lie in an ordinary buffer of Memory, row after row, so that they can be dumped
// and compared like any other buffer. Registered, it has a handle, which serves as texture and as surface alike:
//   independent mode (OpenCL)   an image's handle and a sampler's handle meet in the instruction
//   unified mode (CUDA)         the image's handle alone; the sampler that it was registered with decides
//   .texref, .samplerref, .surfref variables, and references of old CUDA programs   bound by name
// A sampler's handle below 2^16 is a sampler literal of OpenCL C itself (CLK_… constants).
//
// Rules of sampling, the same in both modes (see opcodes/texture_sample.hpp for the formulas):
//   linear filtering weighs texels with 8 bits of fraction, as NVIDIA's hardware does ([cuda] "Linear Filtering");
//   integer formats are never filtered; only normalised coordinates wrap or mirror, others clamp to the edge then;
//   what lies outside under clamp_to_border is the border colour; under `none` it is a Finding.
// Limits: one level of detail (a given level is ignored), no sRGB, no depth comparison, no multi-sample images.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ptx/module.hpp"

namespace kernelcast::emu {

class Memory;

enum class Geometry : std::uint8_t { image_1d, buffer_1d, image_2d, image_3d, array_1d, array_2d, cube, cube_array };
std::string_view name(Geometry);  // "1d", "1d_buffer", "2d", "3d", "1d_array", "2d_array", "cube", "cube_array"

enum class ChannelType : std::uint8_t {
  unorm8,
  unorm16,
  snorm8,
  snorm16,
  sint8,
  sint16,
  sint32,
  uint8,
  uint16,
  uint32,
  half,
  float32
};
unsigned size_bytes(ChannelType);
bool is_integer(ChannelType);  // read as integers, never filtered

// Which channels are stored, in this order. Missing colours read as 0, a missing alpha as 1.
enum class ChannelOrder : std::uint8_t { r, a, rg, ra, rgb, rgba, bgra, argb, abgr, intensity, luminance };
unsigned channels(ChannelOrder);
bool has_alpha(ChannelOrder);

struct Format {
  ChannelOrder order = ChannelOrder::rgba;
  ChannelType type = ChannelType::float32;
  unsigned texel_bytes() const { return channels(order) * size_bytes(type); }
  friend bool operator==(Format const&, Format const&) = default;
};
// "rgba8", "rg16", "r8_snorm", "r32f", "bgra8", "rgba32ui", "r16i", "i8", "l16": order, bits of a channel, and nothing
// for unorm, _snorm, i, ui or f.
std::string name(Format);
std::optional<Format> format_named(std::string_view);
std::vector<std::string> format_names();

float float_of_half(std::uint16_t);
std::uint16_t half_of_float(float);  // to nearest even

struct Image {
  std::string name;  // for messages
  Geometry geometry = Geometry::image_2d;
  Format format;
  std::uint32_t width = 1, height = 1, depth = 1;  // texels; of an array, height is that of a layer
  std::uint32_t layers = 1;                        // arrays: how many; cube_array: cubes
  std::uint64_t address = 0;                       // device address of texel 0
  std::uint64_t row_bytes = 0;                     // from row to row; 0: width texels
  std::uint64_t slice_bytes = 0;                   // from slice, layer or face to the next; 0: height rows

  unsigned faces() const { return geometry == Geometry::cube || geometry == Geometry::cube_array ? 6 : 1; }
  std::uint64_t slices() const { return std::uint64_t{depth} * layers * faces(); }
  std::uint64_t row_pitch() const { return row_bytes ? row_bytes : std::uint64_t{width} * format.texel_bytes(); }
  std::uint64_t slice_pitch() const { return slice_bytes ? slice_bytes : row_pitch() * height; }
  std::uint64_t size_bytes() const;  // from texel 0 to the end of the last
};

enum class AddressMode : std::uint8_t { wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border, mirror_once, none };
enum class Filter : std::uint8_t { nearest, linear };

struct Sampler {
  std::array<AddressMode, 3> address{AddressMode::clamp_to_edge, AddressMode::clamp_to_edge,
                                     AddressMode::clamp_to_edge};
  Filter filter = Filter::nearest;
  bool normalized = false;
  // RGBA, of the type that a read gives; without it 0, and alpha 1 for images that store no alpha.
  std::optional<std::array<std::uint32_t, 4>> border;
};
Sampler sampler_of_literal(std::uint32_t clk_bits);  // a sampler literal of OpenCL C

// The registry of one Memory. Register and bind between launches only.
class Images {
 public:
  explicit Images(Memory&);
  Images(Images const&) = delete;
  Images& operator=(Images const&) = delete;

  // The image's handle. Throws Error(usage) where the image does not fit its geometry or leaves its buffer.
  std::uint64_t add(Image, Sampler const& = {});
  std::uint64_t add(Sampler const&);
  bool remove(std::uint64_t image);  // its handle is none from now on; false where it was none
  // A variable of the module by its PTX name: an opaque one, or a structure that begins with a texture object (how
  // texture references of old CUDA programs are compiled).
  void bind(std::string variable, std::uint64_t handle);

  // ---- for the machine

  struct Texture {
    Image image;
    Sampler sampler;
    std::byte* texels = nullptr;
  };
  // An opaque variable lies at this address; its fields are what the module says.
  void place_variable(std::uint64_t address, ptx::Module const&, ptx::Variable const&);
  void remove_variable(std::uint64_t address) { variables_.erase(address); }
  std::map<std::string, std::uint64_t, std::less<>> const& bindings() const { return bindings_; }
  // Null where the handle is none; `why` then says what it is.
  Texture const* texture(std::uint64_t handle, std::string& why) const;
  Sampler const* sampler(std::uint64_t handle, std::string& why) const;
  // The opaque type that a handle or an address stands for; `none` for others.
  ptx::Type type_of(std::uint64_t handle) const;

 private:
  struct Variable {
    std::string name;
    ptx::Type type = ptx::Type::none;
    Sampler sampler;  // from the fields
  };
  Variable const* variable(std::uint64_t address) const;
  std::uint64_t bound(std::uint64_t handle) const;  // what the variable at this address is bound to, else itself

  Memory& memory_;
  std::vector<std::unique_ptr<Texture>> textures_;  // null: removed
  std::vector<std::unique_ptr<Sampler>> samplers_;
  std::map<std::string, std::uint64_t, std::less<>> bindings_;
  std::map<std::uint64_t, Variable> variables_;
};

}  // namespace kernelcast::emu
