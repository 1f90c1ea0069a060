// Images, samplers, halves and null pointers as text, and bound to a kernel.
#include <bit>
#include <cstring>

#include "catch.hpp"
#include "emulator/launch/arguments.hpp"
#include "error_of.hpp"

using namespace kernelcast;
using namespace kernelcast::launch;

namespace {

Error refusal(std::string const& text) {
  Plan plan;
  return error_of([&] { parse_argument({text, {}, {}}, plan, {}); });
}

Plan plan_with(std::string const& text) {
  Plan plan;
  auto const argument = parse_argument({text, {}, {}}, plan, {});
  REQUIRE(argument);
  return plan;
}

}  // namespace

TEST_CASE("images as text") {
  auto const plan =
      plan_with("texture2d_array:rgba16,linear,wrap,y=border,normalized,pitch=128,border=0;0.5;0;1:10x4x3:zero");
  REQUIRE(plan.images.size() == 1);
  auto const& [image, sampler] = std::tie(plan.images[0].shape, plan.images[0].sampler);
  CHECK(image.geometry == emu::Geometry::array_2d);
  CHECK(name(image.format) == "rgba16");
  CHECK((image.width == 10 && image.height == 4 && image.layers == 3 && image.depth == 1));
  CHECK(image.row_pitch() == 128);
  CHECK(sampler.filter == emu::Filter::linear);
  CHECK(sampler.normalized);
  CHECK(sampler.address ==
        std::array{emu::AddressMode::wrap, emu::AddressMode::clamp_to_border, emu::AddressMode::wrap});
  REQUIRE(sampler.border);
  CHECK((*sampler.border)[1] == std::bit_cast<std::uint32_t>(0.5f));
  REQUIRE(plan.buffers.size() == 1);
  CHECK(plan.buffers[0].element == Element::u16);
  CHECK(plan.buffers[0].bytes() == 128 * 4 * 3);
  CHECK(plan_with("imagecube_array:r32f:8x2:random").images[0].shape.slices() == 12);
  CHECK(plan_with("surface1d_buffer:rg32i:1024*4:iota").buffers[0].count == 8192);
  CHECK(plan_with("image2d:r16f:4x4:iota").buffers[0].element == Element::f16);
}

TEST_CASE("images and samplers that are refused") {
  for (auto const& [text, words] :
       std::vector<std::pair<std::string, std::string>>{{"image2d:rgba8:64x64", "a part is missing"},
                                                        {"image4d:rgba8:64x64:zero", "unknown kind of image"},
                                                        {"image2d:rgab8:64x64:zero", "unknown format 'rgab8'"},
                                                        {"image2d:rgba8,linaer:64x64:zero", "unknown word 'linaer'"},
                                                        {"image2d:rgba8:64:zero", "is not a size of 2d"},
                                                        {"image1d:rgba8:64x64:zero", "is not a size of 1d"},
                                                        {"image2d:rgba8:64x0:zero", "a size of 0"},
                                                        {"image2d:rgba8:64xy:zero", "y"},
                                                        {"image2d:rgba8,pitch=100:64x64:zero", "rows 100 bytes apart"},
                                                        {"image2d:rgba8,pitch=258:64x64:zero", "rows 258 bytes apart"},
                                                        {"image2d:rgba32f:65536x65536:zero", "bytes"},
                                                        {"image2d:rgba8:64x64:ones", "unknown contents"},
                                                        {"image2d:rgba8:64x64:buffer=a", "there is no buffer 'a'"},
                                                        {"sampler:", "unknown word"},
                                                        {"sampler:linear,clmap", "unknown word 'clmap'"},
                                                        {"sampler:border=1;2;3", "is not a colour"},
                                                        {"f16:70000", "does not fit in f16"}}) {
    Error const error = refusal(text);
    INFO(text);
    CHECK(error.status() == Status::usage);
    CHECK_THAT(error.what(), Contains(words));
    CHECK(!error.hint().empty());
  }
  CHECK_THAT(refusal("image2d:rgab8:64x64:zero").hint(), Contains("argb8"));
  CHECK_THAT(refusal("sampler:linaer").hint(), Contains("linear"));
}

TEST_CASE("an image may lie in a buffer of the plan") {
  Plan plan;
  plan.buffers.push_back(parse_buffer("a", {"f32:64:iota", {}, {}}));
  auto const argument = parse_argument({"texture1d:r32f:64:buffer=a", {}, {}}, plan, {});
  REQUIRE(argument);
  CHECK(plan.buffers.size() == 1);
  CHECK(plan.images[0].buffer == 0);
  CHECK(plan.images[0].shares_buffer);
  CHECK_THROWS_AS(parse_argument({"texture1d:r32f:65:buffer=a", {}, {}}, plan, {}), Error);
}

TEST_CASE("halves: values, contents and comparison") {
  Plan plan;
  auto const value = parse_argument({"f16:0.333251953125;-2", {}, {}}, plan, {});
  REQUIRE(value);
  CHECK(value->value == std::vector<std::byte>{std::byte{0x55}, std::byte{0x35}, std::byte{0}, std::byte{0xc0}});
  std::vector<std::uint16_t> random(10000);
  fill_random(Element::f16, 1, 0, std::as_writable_bytes(std::span(random)));
  double sum = 0;
  for (std::uint16_t const h : random) {
    float const f = emu::float_of_half(h);
    REQUIRE((f >= 0 && f < 1));
    REQUIRE(f * 2048 == static_cast<float>(static_cast<int>(f * 2048)));
    sum += f;
  }
  CHECK(sum / 10000 == Approx(0.5).margin(0.02));
  Buffer const buffer = parse_buffer("h", {"f16:4:zero", {}, {}});
  CHECK(buffer.bytes() == 8);
  std::array<std::uint16_t, 4> const have{0x3c00, 0x4000, 0x7e00, 0}, near{0x3c01, 0x4000, 0x7e01, 0x8000};
  auto const bytes = [](auto const& a) { return std::as_bytes(std::span(a)); };
  CHECK(compare(buffer, bytes(have), bytes(near), 1e-3).empty());
  CHECK_THAT(compare(buffer, bytes(have), bytes(near), 1e-5), Contains("differs in 1 of 4"));
}
