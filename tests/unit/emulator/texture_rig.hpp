// Runs one texture or surface instruction over many lanes: an image with random texels, a kernel around the
// instruction, its operands from a buffer.
#pragma once

#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/diag/diag.hpp"
#include "catch.hpp"
#include "emulator/image.hpp"
#include "harness.hpp"

namespace kernelcast::emu::test {

struct TextureShape {
  char const* ptx;
  Geometry geometry;
  unsigned dimensions;
  bool layered, cube;
};
constexpr TextureShape shapes[] = {
    {"1d", Geometry::image_1d, 1, false, false}, {"1d", Geometry::buffer_1d, 1, false, false},
    {"2d", Geometry::image_2d, 2, false, false}, {"3d", Geometry::image_3d, 3, false, false},
    {"a1d", Geometry::array_1d, 1, true, false}, {"a2d", Geometry::array_2d, 2, true, false},
    {"cube", Geometry::cube, 3, false, true},    {"acube", Geometry::cube_array, 3, true, true}};

inline Image image_of(TextureShape const& shape, Format format, Random& random) {
  Image image;
  image.name = "img";
  image.geometry = shape.geometry;
  image.format = format;
  image.width = 1 + random.below(9);
  if (shape.dimensions >= 2) image.height = shape.cube ? image.width : 1 + random.below(9);
  if (shape.geometry == Geometry::image_3d) image.depth = 1 + random.below(5);
  if (shape.layered) image.layers = 1 + random.below(4);
  if (random.below(2)) image.row_bytes = (image.width + 3) * format.texel_bytes();
  if (random.below(2)) image.slice_bytes = image.row_pitch() * image.height + 5 * format.texel_bytes();
  return image;
}

inline void fill(std::span<std::byte> bytes, ChannelType type, Random& random) {
  if (type == ChannelType::float32) {
    for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
      float const value = static_cast<float>(static_cast<std::int32_t>(random.below(1 << 20)) - (1 << 19)) / 1024;
      std::memcpy(bytes.data() + i, &value, 4);
    }
  } else {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(random.below(256));
    if (type == ChannelType::half)  // finite
      for (std::size_t i = 1; i < bytes.size(); i += 2) bytes[i] &= std::byte{0xbb};
  }
}

inline std::string braces(std::vector<std::string> const& words) {
  std::string text = "{";
  for (auto const& word : words) text += (text.size() > 1 ? ", " : "") + word;
  return text + "}";
}

// A kernel in which lane i reads 8 words at in + 32 i (layer, three coordinates, offsets), executes `body` with %c0 …
// and writes %o0 … %o3.
inline std::string kernel(std::string const& body, std::string const& globals = "") {
  return globals + R"(
.visible .entry k(.param .u64 t, .param .u64 s, .param .u64 in, .param .u64 out)
{
  .reg .b32 %r<3>; .reg .b32 %c<8>; .reg .b32 %o<4>; .reg .b64 %rd<9>; .reg .pred %p<2>; .reg .b16 %h<4>;
  .reg .b64 %q<4>;
  ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [s]; ld.param.u64 %rd3, [in]; ld.param.u64 %rd4, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd5, %r1, 32; add.s64 %rd6, %rd3, %rd5;
  ld.global.v4.b32 {%c0, %c1, %c2, %c3}, [%rd6];
  ld.global.v4.b32 {%c4, %c5, %c6, %c7}, [%rd6+16];
  mul.wide.u32 %rd5, %r1, 16; add.s64 %rd7, %rd4, %rd5;
  mov.b32 %o0, 0; mov.b32 %o1, 0; mov.b32 %o2, 0; mov.b32 %o3, 0;
  )" + body +
         R"(
  st.global.v4.b32 [%rd7], {%o0, %o1, %o2, %o3};
  ret;
})";
}

using Words = std::array<std::uint32_t, 8>;

struct Rig {
  Bench bench;
  std::uint64_t image = 0, handle = 0, out = 0;
  Image shape;

  Rig(std::string const& text, Image shape_, Sampler const& sampler, std::vector<Words> const& in,
      std::function<void(std::span<std::byte>)> const& fill_image)
      : bench(text), shape(std::move(shape_)) {
    image = bench.memory.add("img", shape.slice_pitch() * shape.slices());
    fill_image(bench.memory.bytes(image));
    shape.address = image;
    handle = bench.memory.images().add(shape, sampler);
    bench.argument(handle);
    bench.argument(bench.memory.images().add(sampler));
    bench.buffer("in", in);
    out = bench.buffer("out", in.size() * 16);
    bench.launch.block = {static_cast<std::uint32_t>(in.size()), 1, 1};
  }
  std::vector<std::array<std::uint32_t, 4>> run() {
    bench.run();
    INFO((bench.outcome.finding ? bench.outcome.finding->message : std::string()));
    REQUIRE(bench.outcome.ending == Ending::done);
    return bench.read<std::array<std::uint32_t, 4>>(out);
  }
};

inline std::string operands(TextureShape const& shape) {
  std::vector<std::string> words;
  if (shape.layered) words.emplace_back("%c0");
  for (unsigned d = 0; d < shape.dimensions; ++d) words.push_back("%c" + std::to_string(d + 1));
  while (words.size() == 3) words.push_back(words.back());
  return braces(words);
}

}  // namespace kernelcast::emu::test
