// Texels in memory and the four values that a read of them gives. Internal to emu.
//
// A read gives R, G, B, A as bits of f32 (unorm, snorm, half, float), of s32 or of u32. [opencl 1.2] 8.3.1 and 6.12.14:
// unorm v / (2^n - 1), snorm max(v / (2^(n-1) - 1), -1); writes round to nearest even and saturate, NaN writes 0.
#pragma once

#include <cstddef>

#include "emulator/image.hpp"

namespace kernelcast::emu {

using TexelValue = std::array<std::uint32_t, 4>;

// The value of what is stored here, missing colours 0 and a missing alpha 1.
TexelValue read_texel(Format, std::byte const*);
void write_texel(Format, std::byte*, TexelValue const&);
// Of a texel outside the image.
TexelValue border_of(Format, Sampler const&);

}  // namespace kernelcast::emu
