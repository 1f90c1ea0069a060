// The operation of a texture or surface instruction, as the decoder leaves it in MicroOp::data. Internal to emu.
#pragma once

#include "emulator/image.hpp"
#include "emulator/opcodes/lane.hpp"

namespace kernelcast::emu {

struct TextureOperation {
  enum class Kind : std::uint8_t {
    sample,        // tex
    gather,        // tld4
    load,          // suld.b
    store,         // sust.b
    store_texel,   // sust.p
    reduce,        // sured.b
    reduce_texel,  // sured.p
    query,         // txq, suq
    test           // istypep
  };
  enum class Shape : std::uint8_t { d1, d2, d3, a1d, a2d, cube, acube };
  enum class Result : std::uint8_t { bits32, f16, f16x2 };
  enum class Outside : std::uint8_t { trap, clamp, zero };
  enum class Reduction : std::uint8_t { add, minimum, maximum, conjunction, disjunction };
  enum class Query : std::uint8_t {
    width,
    height,
    depth,
    channel_data_type,
    channel_order,
    normalized_coords,
    array_size,
    num_mipmap_levels,
    num_samples,
    force_unnormalized_coords,
    filter_mode,
    addr_mode_0,
    addr_mode_1,
    addr_mode_2,
    memory_layout
  };
  static constexpr std::uint8_t nothing = 0xff;

  Kind kind = Kind::sample;
  Shape shape = Shape::d2;
  Result result = Result::bits32;
  Outside outside = Outside::trap;
  Reduction reduction = Reduction::add;
  Query query = Query::width;
  ptx::Type type = ptx::Type::none;  // of a reduction; of istypep
  bool integer_coordinates = false;
  std::uint8_t component = 0;      // tld4
  std::uint8_t elements = 4;       // results, or values to store
  std::uint8_t element_bytes = 4;  // of one of them
  // Sources: the image first; where the others begin.
  std::uint8_t sampler = nothing, layer = nothing, coordinates = nothing, offsets = nothing, data = nothing;

  unsigned dimensions() const {
    switch (shape) {
      case Shape::d1:
      case Shape::a1d:
        return 1;
      case Shape::d2:
      case Shape::a2d:
        return 2;
      default:
        return 3;
    }
  }
  bool projects() const { return shape == Shape::cube || shape == Shape::acube; }
};

std::string_view name(TextureOperation::Shape);  // "2d", "a2d", …
bool fits(TextureOperation::Shape, Geometry);

}  // namespace kernelcast::emu
