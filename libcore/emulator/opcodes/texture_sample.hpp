// Sampling: from coordinates to a value. Internal to emu.
//
// For each dimension of n texels a coordinate s becomes a texel position u ([opencl 1.2] 8.2, [cuda] "Texture
// Fetching"), in single precision; NaN counts as 0:
//   wrap         u = (s - floor s) n           mirror       u = |s - 2 rint(s / 2)| n
//   mirror_once  u = |s| n                     clamp_ogl    u = s n, clamped to [0, n]
//   others       u = s n where normalised, else s
// Unnormalised coordinates cannot wrap or mirror: they clamp to the edge. Nearest reads texel floor u. Linear reads
// i = floor(u - 1/2) and i + 1 with weights 1 - a and a, a = u - 1/2 - i rounded to 8 bits of fraction, half up; the
// 2, 4 or 8 products are added in double precision and rounded once; texels of weight 0 are not read. Indices outside
// 0 … n - 1 wrap around (wrap), are the border colour (clamp_to_border, and clamp_ogl with linear), or the edge.
// Offsets (operand e) are texels added to u. Layers clamp. Integer coordinates are unnormalised texel indices.
//
// Cubes ([cuda] "Cubemap Texture Fetch"): the component of largest magnitude m selects the face, z before y before x
// where equal; +x: (-z, -y), -x: (z, -y), +y: (x, z), -y: (x, -z), +z: (x, -y), -z: (-x, -y), each made (v / m + 1) /
// 2, normalised coordinates of a face whose edges clamp.
#pragma once

#include <cmath>

#include "emulator/opcodes/texture.hpp"
#include "emulator/opcodes/texture_texel.hpp"

namespace kernelcast::emu {

// Where one lane looks, as its registers have it.
struct TexturePosition {
  std::array<std::uint32_t, 3> at{};  // bits of f32, or s32
  std::uint32_t layer = 0;
  std::array<std::int32_t, 3> offset{};
};

struct TextureResult {
  TexelValue value{};
  std::uint32_t place = 0;  // byte offset of the first texel that was read; 0 when none was
  bool inside = true;       // false: the coordinates are outside an image that may only be read inside
};

// floor() without a call of the library, for which the lowest instruction-set level has no instruction.
inline float floor_of(float x) {
  if (!(std::fabs(x) < 0x1p23f)) return x;  // integers, infinities and NaN
  auto const truncated = static_cast<float>(static_cast<std::int32_t>(x));
  return truncated > x ? truncated - 1.0f : truncated;
}

TextureResult sample(Images::Texture const&, Sampler const&, TextureOperation const&, TexturePosition const&);
// One channel of the four texels that a linear filter would read: (i, j + 1), (i + 1, j + 1), (i + 1, j), (i, j).
TextureResult gather(Images::Texture const&, Sampler const&, TextureOperation const&, TexturePosition const&);

}  // namespace kernelcast::emu
