#include "emulator/opcodes/texture_sample.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kernelcast::emu {

namespace {

constexpr std::int32_t outside = -1;

float as_float(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}

// The texels of one dimension that a read touches: two for linear filtering, else index[0] alone with all the weight.
struct Taps {
  std::int32_t index[2] = {0, outside};
  std::uint32_t weight = 0;  // of index[1], in 256ths
  bool inside = true;
};

std::int32_t settle(std::int32_t index, std::int32_t size, AddressMode mode) {
  if (static_cast<std::uint32_t>(index) < static_cast<std::uint32_t>(size)) return index;
  if (mode == AddressMode::clamp_to_border) return outside;
  if (mode == AddressMode::wrap) return (index % size + size) % size;
  return std::clamp(index, 0, size - 1);
}

Taps integer_taps(std::uint32_t coordinate, std::int32_t offset, std::uint32_t size, AddressMode mode) {
  std::int64_t const index = std::int64_t{static_cast<std::int32_t>(coordinate)} + offset;
  bool const inside = index >= 0 && index < size;
  Taps taps;
  taps.inside = inside || mode != AddressMode::none;
  taps.index[0] = inside ? static_cast<std::int32_t>(index)
                  : mode == AddressMode::clamp_to_border
                      ? outside
                      : static_cast<std::int32_t>(std::clamp<std::int64_t>(index, 0, std::int64_t{size} - 1));
  return taps;
}

// The texel position u; see the header. `offset` is what is still to be added to the index.
float position(float s, std::int32_t& offset, float size, AddressMode mode, bool normalized) {
  float u = 0;
  if (mode == AddressMode::mirror || mode == AddressMode::mirror_once) {
    s += static_cast<float>(offset) / size;  // the offset is mirrored too
    offset = 0;
  }
  switch (mode) {
    case AddressMode::wrap:
      u = (s - floor_of(s)) * size;
      break;
    case AddressMode::mirror:
      u = std::fabs(s - 2.0f * std::rint(0.5f * s)) * size;
      break;
    case AddressMode::mirror_once:
      u = std::fabs(s) * size;
      break;
    default:
      u = normalized ? s * size : s;
  }
  if (u != u) u = 0;
  if (mode == AddressMode::clamp_ogl) return std::clamp(u, 0.0f, size);
  return std::clamp(u, -0x1p30f, 0x1p30f);
}

Taps float_taps(float s, std::int32_t offset, std::uint32_t texels, AddressMode mode, bool normalized, bool linear) {
  auto const size = static_cast<std::int32_t>(texels);
  if (s != s) s = 0;
  if (!normalized && (mode == AddressMode::wrap || mode == AddressMode::mirror || mode == AddressMode::mirror_once))
    mode = AddressMode::clamp_to_edge;
  float const u = position(s, offset, static_cast<float>(size), mode, normalized);
  Taps taps;
  auto const nearest = static_cast<std::int32_t>(floor_of(u)) + offset;
  if (mode == AddressMode::none) taps.inside = nearest >= 0 && nearest < size;
  if (!linear) {
    taps.index[0] = settle(nearest, size, mode);
    return taps;
  }
  if (mode == AddressMode::clamp_ogl) mode = AddressMode::clamp_to_border;
  float const corner = u - 0.5f, below = floor_of(corner);
  auto const first = static_cast<std::int32_t>(below) + offset;
  taps.index[0] = settle(first, size, mode);
  taps.index[1] = settle(first + 1, size, mode);
  taps.weight = static_cast<std::uint32_t>(floor_of((corner - below) * 256.0f + 0.5f));
  return taps;
}

// The face that a direction meets and where.
struct Projected {
  std::uint32_t face;
  float s, t;
};
Projected project(TexturePosition const& p) {
  float const x = as_float(p.at[0]), y = as_float(p.at[1]), z = as_float(p.at[2]);
  float const ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  Projected result{};
  float m = az, s = 0, t = -y;
  if (az >= ax && az >= ay) {
    result.face = z < 0 ? 5 : 4;
    s = z < 0 ? -x : x;
  } else if (ay >= ax) {
    result.face = y < 0 ? 3 : 2;
    m = ay;
    s = x;
    t = y < 0 ? -z : z;
  } else {
    result.face = x < 0 ? 1 : 0;
    m = ax;
    s = x < 0 ? z : -z;
  }
  result.s = (s / m + 1.0f) / 2.0f;
  result.t = (t / m + 1.0f) / 2.0f;
  return result;
}

// All of a read but its texels.
struct Footprint {
  std::array<Taps, 3> taps;
  std::uint32_t slice = 0;  // layer, face; added to the third dimension's index
  unsigned dimensions = 1;
  bool linear = false, inside = true;
};

Footprint footprint(Images::Texture const& t, Sampler const& sampler, TextureOperation const& op,
                    TexturePosition const& p, bool linear) {
  Image const& image = t.image;
  Footprint f;
  f.linear = linear && !op.integer_coordinates;
  f.slice = std::min(p.layer, image.layers - 1) * image.faces();
  if (op.projects()) {
    Projected const at = project(p);
    f.dimensions = 2;
    f.slice += at.face;
    f.taps[0] = float_taps(at.s, 0, image.width, AddressMode::clamp_to_edge, true, f.linear);
    f.taps[1] = float_taps(at.t, 0, image.height, AddressMode::clamp_to_edge, true, f.linear);
    return f;
  }
  f.dimensions = op.dimensions();
  std::uint32_t const sizes[] = {image.width, image.height, image.depth};
  for (unsigned d = 0; d < f.dimensions; ++d) {
    f.taps[d] = op.integer_coordinates ? integer_taps(p.at[d], p.offset[d], sizes[d], sampler.address[d])
                                       : float_taps(as_float(p.at[d]), p.offset[d], sizes[d], sampler.address[d],
                                                    sampler.normalized, f.linear);
    f.inside = f.inside && f.taps[d].inside;
  }
  return f;
}

class Reader {
 public:
  Reader(Images::Texture const& t, Sampler const& sampler, Footprint const& f, TextureResult& result)
      : texture_(t), f_(f), result_(result), border_(border_of(t.image.format, sampler)) {}

  // `corner`: bit d chooses between the two taps of dimension d.
  TexelValue operator()(unsigned corner) {
    std::uint64_t place = f_.slice * slice_;
    std::uint64_t const steps[] = {texture_.image.format.texel_bytes(), row_, slice_};
    for (unsigned d = 0; d < f_.dimensions; ++d) {
      std::int32_t const index = f_.taps[d].index[corner >> d & 1];
      if (index == outside) return border_;
      place += static_cast<std::uint64_t>(index) * steps[d];
    }
    if (first_) result_.place = static_cast<std::uint32_t>(place);
    first_ = false;
    return read_texel(texture_.image.format, texture_.texels + place);
  }

 private:
  Images::Texture const& texture_;
  Footprint const& f_;
  TextureResult& result_;
  TexelValue border_;
  std::uint64_t row_ = texture_.image.row_pitch(), slice_ = texture_.image.slice_pitch();
  bool first_ = true;
};

}  // namespace

TextureResult sample(Images::Texture const& t, Sampler const& sampler, TextureOperation const& op,
                     TexturePosition const& p) {
  bool const linear = sampler.filter == Filter::linear && !is_integer(t.image.format.type);
  Footprint const f = footprint(t, sampler, op, p, linear);
  TextureResult result;
  result.inside = f.inside;
  if (!f.inside) return result;
  Reader read(t, sampler, f, result);
  if (!f.linear) {
    result.value = read(0);
    return result;
  }
  double sums[4] = {};
  double weights[3][2];
  for (unsigned d = 0; d < f.dimensions; ++d) {
    weights[d][1] = f.taps[d].weight / 256.0;
    weights[d][0] = 1 - weights[d][1];
  }
  for (unsigned corner = 0; corner < 1u << f.dimensions; ++corner) {
    double weight = 1;
    for (unsigned d = 0; d < f.dimensions; ++d) weight *= weights[d][corner >> d & 1];
    if (weight == 0) continue;
    TexelValue const texel = read(corner);
    for (unsigned c = 0; c < 4; ++c) sums[c] += weight * as_float(texel[c]);
  }
  for (unsigned c = 0; c < 4; ++c) {
    auto const value = static_cast<float>(sums[c]);
    result.value[c] = value != value ? 0x7fffffffu : std::bit_cast<std::uint32_t>(value);
  }
  return result;
}

TextureResult gather(Images::Texture const& t, Sampler const& sampler, TextureOperation const& op,
                     TexturePosition const& p) {
  Footprint const f = footprint(t, sampler, op, p, true);
  TextureResult result;
  result.inside = f.inside;
  if (!f.inside) return result;
  Reader read(t, sampler, f, result);
  static constexpr unsigned order[] = {2, 3, 1, 0};
  for (unsigned k = 0; k < 4; ++k) result.value[k] = read(order[k])[op.component];
  return result;
}

}  // namespace kernelcast::emu
