// What surrounds sampling: integer coordinates, offsets, gathers, halves, surfaces, queries, references, findings and
// the events that observers get.
#include <bit>
#include <cmath>
#include <map>

#include "emulator/passed_over.hpp"
#include "texture_rig.hpp"

using namespace kernelcast;
using namespace kernelcast::emu;
using namespace kernelcast::emu::test;

namespace {

using Result = std::array<std::uint32_t, 4>;

std::vector<Words> random_words(std::size_t count, Random& random, std::uint32_t below, std::uint32_t shift) {
  std::vector<Words> all(count);
  for (Words& w : all)
    for (std::uint32_t& x : w) x = random.below(below) - shift;
  return all;
}

void fill_random(std::span<std::byte> bytes, Random& random) {
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.below(256));
}

Image image_2d(char const* format, std::uint32_t width, std::uint32_t height) {
  Image image;
  image.name = "img";
  image.format = *format_named(format);
  image.width = width;
  image.height = height;
  return image;
}

Finding finding_of(std::string const& body, Image const& image, Sampler const& sampler, Words const& words,
                   std::function<void(Rig&)> const& prepare = {}) {
  Random random{3};
  Rig rig(kernel(body), image, sampler, {words}, [&](std::span<std::byte> b) { fill_random(b, random); });
  if (prepare) prepare(rig);
  rig.bench.run();
  REQUIRE(rig.bench.outcome.ending == Ending::finding);
  return *rig.bench.outcome.finding;
}

}  // namespace

TEST_CASE("textures: integer coordinates name texels, outside them the sampler's mode, or 0 without a sampler") {
  Random random{21};
  Image const image = image_2d("rg32ui", 7, 5);
  for (bool const unified : {false, true})
    for (AddressMode const mode : {AddressMode::clamp_to_edge, AddressMode::clamp_to_border, AddressMode::wrap}) {
      Sampler sampler;
      sampler.address.fill(mode);
      auto in = random_words(64, random, 14, 4);
      in[0][1] = 0x80000000u;
      in[1][2] = 0x7fffffffu;
      Rig rig(kernel(std::string("tex.2d.v4.u32.s32 {%o0, %o1, %o2, %o3}, [%rd1, ") + (unified ? "" : "%rd2, ") +
                     "{%c1, %c2}];"),
              image, sampler, in, [&](std::span<std::byte> b) { fill_random(b, random); });
      auto const have = rig.run();
      auto const texels = rig.bench.read<std::array<std::uint32_t, 2>>(rig.image);
      for (std::size_t i = 0; i < in.size(); ++i) {
        auto x = static_cast<std::int32_t>(in[i][1]), y = static_cast<std::int32_t>(in[i][2]);
        bool const inside = x >= 0 && x < 7 && y >= 0 && y < 5;
        Result want{0, 0, 0, 1};
        if (inside || (!unified && mode != AddressMode::clamp_to_border)) {
          auto const& t = texels[static_cast<std::size_t>(std::clamp(y, 0, 4) * 7 + std::clamp(x, 0, 6))];
          want = {t[0], t[1], 0, 1};
        }
        CHECK(have[i] == want);
      }
    }
}

TEST_CASE("textures: offsets are texels, applied before the address mode") {
  Random random{22};
  Image const image = image_2d("r32f", 8, 8);
  for (AddressMode const mode : {AddressMode::wrap, AddressMode::mirror, AddressMode::clamp_to_edge}) {
    Sampler sampler;
    sampler.address.fill(mode);
    sampler.normalized = true;
    std::vector<Words> in(64), moved(64);
    for (std::size_t i = 0; i < in.size(); ++i)
      for (unsigned d = 0; d < 2; ++d) {
        // Eighths of an eighth of the image: exact in f32, never on a texel's edge.
        int const eighths = static_cast<int>(random.below(192)) - 64, offset = static_cast<int>(random.below(16)) - 8;
        in[i][1 + d] = std::bit_cast<std::uint32_t>((static_cast<float>(eighths) + 0.5f) / 64);
        in[i][4 + d] = static_cast<std::uint32_t>(offset);
        moved[i][1 + d] = std::bit_cast<std::uint32_t>((static_cast<float>(eighths + 8 * offset) + 0.5f) / 64);
      }
    auto const contents = [](std::span<std::byte> bytes) {
      for (std::size_t i = 0; i < 64; ++i) {
        auto const value = static_cast<float>(i);
        std::memcpy(bytes.data() + 4 * i, &value, 4);
      }
    };
    Rig with(kernel("tex.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd1, {%c1, %c2}], {%c4, %c5};"), image, sampler, in,
             contents);
    Rig without(kernel("tex.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd1, {%c1, %c2}];"), image, sampler, moved, contents);
    CHECK(with.run() == without.run());
  }
}

TEST_CASE("textures: a gather gives one channel of the filter's four texels, counter-clockwise from the lower left") {
  Image const image = image_2d("rgba8ui", 4, 4);
  for (unsigned channel = 0; channel < 4; ++channel) {
    std::vector<Words> in(9);
    for (unsigned i = 0; i < 9; ++i) {
      in[i][1] = std::bit_cast<std::uint32_t>(1.25f + static_cast<float>(i % 3));
      in[i][2] = std::bit_cast<std::uint32_t>(1.25f + static_cast<float>(i / 3));
    }
    Rig rig(kernel(std::string("tld4.") + "rgba"[channel] +
                   ".2d.v4.u32.f32 {%o0, %o1, %o2, %o3}|%p1, [%rd1, {%c1, %c2}];\n@!%p1 mov.b32 %o0, 99;"),
            image, {}, in, [](std::span<std::byte> bytes) {
              for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
            });
    auto const have = rig.run();
    for (unsigned i = 0; i < 9; ++i) {
      unsigned const x0 = i % 3, y0 = i / 3, x1 = std::min(x0 + 1, 3u), y1 = std::min(y0 + 1, 3u);
      auto const at = [&](unsigned x, unsigned y) { return 4 * (4 * y + x) + channel; };
      CHECK(have[i] == Result{at(x0, y1), at(x1, y1), at(x1, y0), at(x0, y0)});
    }
  }
}

TEST_CASE("textures: results as halves") {
  Image const image = image_2d("rgba16f", 4, 1);
  std::vector<Words> in(4);
  for (unsigned i = 0; i < 4; ++i) in[i][1] = i;
  auto const contents = [](std::span<std::byte> bytes) {
    for (std::size_t i = 0; i < 16; ++i) {
      std::uint16_t const half = half_of_float(static_cast<float>(i) - 7.5f);
      std::memcpy(bytes.data() + 2 * i, &half, 2);
    }
  };
  Rig four(kernel("tex.2d.v4.f16.s32 {%h0, %h1, %h2, %h3}, [%rd1, {%c1, %c0}];\n"
                  "mov.b32 %o0, {%h0, %h1}; mov.b32 %o1, {%h2, %h3};"),
           image, {}, in, contents);
  Rig two(kernel("tex.2d.v2.f16x2.s32 {%o0, %o1}, [%rd1, {%c1, %c0}];"), image, {}, in, contents);
  auto const have = four.run();
  CHECK(have == two.run());
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned c = 0; c < 4; ++c)
      CHECK(float_of_half(static_cast<std::uint16_t>(have[i][c / 2] >> 16 * (c % 2))) ==
            static_cast<float>(4 * i + c) - 7.5f);
}

TEST_CASE("halves and floats: every half, and rounding to nearest even") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    auto const h = static_cast<std::uint16_t>(bits);
    if ((h & 0x7c00) == 0x7c00 && (h & 0x3ff) != 0) continue;  // NaN
    REQUIRE(half_of_float(float_of_half(h)) == h);
  }
  CHECK(half_of_float(65519.0f) == 0x7bff);
  CHECK(half_of_float(65520.0f) == 0x7c00);
  CHECK(half_of_float(1.0f + 0x1p-11f) == 0x3c00);
  CHECK(half_of_float(1.0f + 0x1.8p-10f) == 0x3c02);
  CHECK(half_of_float(0x1p-25f) == 0);
  CHECK(half_of_float(-0x1.8p-25f) == 0x8001);
}

TEST_CASE("surfaces: loads and stores of every size, geometry and mode") {
  Random random{23};
  std::size_t compared = 0;
  for (TextureShape const& shape : shapes) {
    if (shape.cube) continue;
    for (char const* mode : {"clamp", "zero"})
      for (unsigned bytes : {1u, 2u, 4u, 8u, 16u}) {
        Image image = image_of(shape, *format_named("rgba32ui"), random);
        std::string const type = bytes == 1   ? "b8"
                                 : bytes == 2 ? "b16"
                                 : bytes == 4 ? "b32"
                                 : bytes == 8 ? "v2.b32"
                                              : "v4.b32";
        std::string const values = bytes <= 2   ? "%h0"
                                   : bytes == 4 ? "%o0"
                                   : bytes == 8 ? "{%o0, %o1}"
                                                : "{%o0, %o1, %o2, %o3}";
        std::string const geometry = shape.ptx;
        std::string const load = "suld.b." + geometry + "." + type + "." + mode + " " + values + ", [%rd1, " +
                                 operands(shape) + "];" + (bytes <= 2 ? "cvt.u32.u16 %o0, %h0;" : "");
        // Lanes store to places of their own, so that their order does not matter.
        std::string const store =
            "mov.b32 %o0, %c4; mov.b32 %o1, %c5; mov.b32 %o2, %c6; mov.b32 %o3, %c7; "
            "cvt.u16.u32 %h0, %c4;\n sust.b." +
            geometry + "." + type + "." + mode + " [%rd1, " + operands(shape) + "], " + values + ";";
        std::int64_t const row = std::int64_t{image.width} * 16;
        std::vector<Words> in(48);
        std::map<std::uint64_t, std::size_t> taken;
        auto const place = [&](Words const& w) -> std::optional<std::uint64_t> {
          std::int64_t at[4] = {static_cast<std::int32_t>(w[1]), 0, 0, shape.layered ? w[0] : 0};
          std::int64_t const last[4] = {row - bytes, image.height - 1, image.depth - 1,
                                        static_cast<std::int64_t>(image.slices() / image.depth) - 1};
          for (unsigned d = 1; d < shape.dimensions; ++d) at[d] = static_cast<std::int32_t>(w[d + 1]);
          for (unsigned d = 0; d < 4; ++d) {
            if (std::string(mode) == "zero" && (at[d] < 0 || at[d] > last[d])) return std::nullopt;
            at[d] = std::clamp<std::int64_t>(at[d], 0, last[d]);
          }
          return static_cast<std::uint64_t>(at[0]) + static_cast<std::uint64_t>(at[1]) * image.row_pitch() +
                 static_cast<std::uint64_t>(at[2] + at[3]) * image.slice_pitch();
        };
        for (std::size_t i = 0; i < in.size(); ++i) do {
            in[i] = random_words(1, random, 0x10000, 0)[0];
            in[i][0] = random.below(6);
            in[i][1] = (random.below(static_cast<std::uint32_t>(row / bytes) + 8) - 4) * bytes;
            for (unsigned d = 2; d < 4; ++d) in[i][d] = random.below(12) - 2;
          } while (random.below(50) != 0 && place(in[i]) && !taken.try_emplace(*place(in[i]), i).second);
        Rig reading(kernel(load), image, {}, in, [&](std::span<std::byte> b) { fill_random(b, random); });
        auto const have = reading.run();
        auto const texels = reading.bench.read<std::byte>(reading.image);
        for (std::size_t i = 0; i < in.size(); ++i) {
          Result want{};
          if (auto const at = place(in[i])) std::memcpy(want.data(), texels.data() + *at, bytes);
          CHECK(have[i] == want);
          ++compared;
        }
        Rig writing(kernel(store), image, {}, in, [](std::span<std::byte>) {});
        writing.run();
        std::vector<std::byte> want(texels.size());
        for (Words const& w : in)
          if (auto const at = place(w)) std::memcpy(want.data() + *at, w.data() + 4, bytes);
        CHECK(writing.bench.read<std::byte>(writing.image) == want);
      }
  }
  CHECK(compared == 6 * 2 * 5 * 48);
}

TEST_CASE("surfaces: formatted stores convert, round to nearest even and saturate") {
  Random random{24};
  for (std::string const& text : format_names()) {
    Image const image = image_2d(text.c_str(), 64, 1);
    bool const integers = is_integer(image.format.type);
    bool const is_signed = image.format.type <= ChannelType::sint32;
    std::vector<Words> in(64);
    for (unsigned i = 0; i < 64; ++i) {
      in[i][1] = i;
      for (unsigned c = 4; c < 8; ++c)
        in[i][c] = integers ? static_cast<std::uint32_t>(random()) >> random.below(32)
                            : std::bit_cast<std::uint32_t>((static_cast<float>(random.below(4001)) - 2000) / 1500);
    }
    in[0][4] = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN());
    Rig rig(kernel("sust.p.2d.v4.b32.trap [%rd1, {%c1, %c0}], {%c4, %c5, %c6, %c7};", ""), image, {}, in,
            [](std::span<std::byte>) {});
    for (unsigned i = 0; i < 64; ++i) in[i][0] = 0;
    rig.run();
    auto const bytes = rig.bench.read<std::byte>(rig.image);
    std::string const letters = text.substr(0, text.find_first_of("0123456789"));
    unsigned const size = size_bytes(image.format.type);
    for (unsigned i = 0; i < 64; ++i)
      for (unsigned k = 0; k < letters.size(); ++k) {
        std::size_t const channel = letters == "i" || letters == "l" ? 0 : std::string("rgba").find(letters[k]);
        std::uint32_t const given = in[i][4 + channel];
        std::uint32_t stored = 0;
        std::memcpy(&stored, bytes.data() + (i * letters.size() + k) * size, size);
        double const limit = std::ldexp(1.0, static_cast<int>(8 * size)) - 1, half = (limit - 1) / 2;
        double want = 0;
        if (integers) {
          want = is_signed ? std::clamp(double(static_cast<std::int32_t>(given)), -half - 1, half)
                           : std::min(double(given), limit);
        } else {
          float const value = std::bit_cast<float>(given);
          if (image.format.type == ChannelType::float32) {
            CHECK(stored == given);
            continue;
          }
          if (image.format.type == ChannelType::half) {
            CHECK(stored == half_of_float(value));
            continue;
          }
          bool const sign = image.format.type == ChannelType::snorm8 || image.format.type == ChannelType::snorm16;
          double const scale = sign ? half : limit;
          want = std::isnan(value)
                     ? 0
                     : std::clamp<double>(std::nearbyint(static_cast<float>(value * static_cast<float>(scale))),
                                          sign ? -half - 1 : 0.0, sign ? half : limit);
        }
        auto const bits =
            static_cast<std::uint32_t>(static_cast<std::int64_t>(want)) & static_cast<std::uint32_t>(limit);
        INFO(text << " lane " << i << " channel " << k);
        CHECK(stored == bits);
      }
  }
}

TEST_CASE("surfaces: reductions, one lane after the other") {
  Random random{25};
  struct Case {
    char const *op, *type;
  };
  for (Case const c : {Case{"add", "u32"}, Case{"add", "s32"}, Case{"min", "u32"}, Case{"min", "s32"},
                       Case{"max", "u32"}, Case{"max", "s32"}, Case{"and", "b32"}, Case{"or", "b32"}}) {
    Image const image = image_2d(c.type[0] == 's' ? "r32i" : "r32ui", 4, 1);
    auto in = random_words(32, random, 0xffffffffu, 0);
    for (Words& w : in) w[1] = random.below(4) * 4, w[2] = 0;
    for (bool const texels : {false, true}) {
      bool const known = std::string(c.op) == "min" || std::string(c.op) == "max" || std::string(c.op) == "add";
      if (texels && !known) continue;
      for (Words& w : in)
        if (texels) w[1] %= 4;
      Rig rig(kernel(std::string("sured.") + (texels ? "p." : "b.") + c.op + ".2d." + (texels ? "b32" : c.type) +
                     ".trap [%rd1, {%c1, %c2}], %c4;"),
              image, {}, in, [&](std::span<std::byte> b) { fill_random(b, random); });
      auto want = rig.bench.read<std::uint32_t>(rig.image);
      CHECK(rig.bench.program->order_dependent());
      rig.run();
      for (Words const& w : in) {
        std::uint32_t& at = want[texels ? w[1] : w[1] / 4];
        std::string const op = c.op;
        bool const less =
            c.type[0] == 's' ? static_cast<std::int32_t>(w[4]) < static_cast<std::int32_t>(at) : w[4] < at;
        at = op == "add"   ? at + w[4]
             : op == "and" ? (at & w[4])
             : op == "or"  ? (at | w[4])
                           : ((op == "min") == less ? w[4] : at);
      }
      CHECK(rig.bench.read<std::uint32_t>(rig.image) == want);
    }
  }
}

TEST_CASE("textures: queries") {
  Image image;
  image.name = "img";
  image.geometry = Geometry::array_2d;
  image.format = *format_named("rg16f");
  image.width = 20;
  image.height = 10;
  image.layers = 3;
  Sampler sampler;
  sampler.filter = Filter::linear;
  sampler.normalized = true;
  sampler.address = {AddressMode::wrap, AddressMode::mirror, AddressMode::clamp_to_border};
  std::vector<std::pair<std::string, std::uint32_t>> const all = {{"txq.width", 20},
                                                                  {"txq.height", 10},
                                                                  {"txq.depth", 1},
                                                                  {"txq.array_size", 3},
                                                                  {"txq.channel_order", 0x10b2},
                                                                  {"txq.channel_data_type", 0x10dd},
                                                                  {"txq.normalized_coords", 1},
                                                                  {"txq.filter_mode", 1},
                                                                  {"txq.addr_mode_0", 0},
                                                                  {"txq.addr_mode_1", 1},
                                                                  {"txq.addr_mode_2", 4},
                                                                  {"txq.num_mipmap_levels", 0},
                                                                  {"txq.num_samples", 0},
                                                                  {"suq.width", 20},
                                                                  {"suq.array_size", 3},
                                                                  {"suq.memory_layout", 1},
                                                                  {"suq.channel_order", 0x10b2}};
  for (auto const& [query, want] : all) {
    Rig rig(kernel(query + ".b32 %o0, [%rd1];"), image, sampler, {Words{}}, [](std::span<std::byte>) {});
    INFO(query);
    CHECK(rig.run()[0][0] == want);
  }
  Rig level(kernel("txq.level.height.b32 %o0, [%rd1], 0; txq.addr_mode_1.b32 %o1, [%rd2];\n"
                   "txq.force_unnormalized_coords.b32 %o2, [%rd2];"),
            image, sampler, {Words{}}, [](std::span<std::byte>) {});
  CHECK(level.run()[0] == Result{10, 1, 0, 0});
  Rig types(
      kernel("istypep.texref %p0, %rd1; selp.b32 %o0, 1, 0, %p0; istypep.surfref %p0, %rd1; selp.b32 %o1, 1, 0, "
             "%p0;\nistypep.samplerref %p0, %rd1; selp.b32 %o2, 1, 0, %p0; istypep.samplerref %p0, %rd2; selp.b32 "
             "%o3, 1, 0, %p0;"),
      image, sampler, {Words{}}, [](std::span<std::byte>) {});
  CHECK(types.run()[0] == Result{1, 1, 0, 1});
}

TEST_CASE("textures: references of the module are bound by name, samplers keep their own fields") {
  Image const image = image_2d("r32ui", 4, 4);
  std::string const globals =
      ".global .texref tex_a;\n.global .surfref surf_a;\n"
      ".global .samplerref smp = { addr_mode_0 = clamp_to_border, addr_mode_1 = clamp_to_border, filter_mode = "
      "nearest, "
      "force_unnormalized_coords = 1 };\n.const .align 8 .b8 legacy[24];\n";
  std::string const body =
      "tex.2d.v4.u32.s32 {%o0, %c4, %c5, %c6}, [tex_a, smp, {%c1, %c2}];\n"
      "suld.b.2d.b32.trap %o1, [surf_a, {4, 2}];\n"
      "ld.const.u64 %rd8, [legacy];\ntex.2d.v4.u32.s32 {%o2, %c4, %c5, %c6}, [%rd8, {3, 3}];\n"
      "mov.u64 %rd8, tex_a;\ntxq.width.b32 %o3, [%rd8];";
  std::vector<Words> in(2);
  in[0] = {0, 1, 1};
  in[1] = {0, 9, 1};
  auto const contents = [](std::span<std::byte> bytes) {
    for (std::uint32_t i = 0; i < 16; ++i) std::memcpy(bytes.data() + 4 * i, &i, 4);
  };
  Rig rig(kernel(body, globals), image, {}, in, contents);
  for (char const* name : {"tex_a", "surf_a", "legacy"}) rig.bench.memory.images().bind(name, rig.handle);
  auto const have = rig.run();
  CHECK(have[0] == Result{5, 9, 15, 4});
  CHECK(have[1] == Result{0, 9, 15, 4});
  Rig unbound(kernel(body, globals), image, {}, in, contents);
  unbound.bench.run();
  REQUIRE(unbound.bench.outcome.finding);
  CHECK_THAT(unbound.bench.outcome.finding->message, Contains("'tex_a' is bound to no image"));
}

TEST_CASE("textures: findings") {
  Image const image = image_2d("r32f", 16, 16);
  std::string const tex = "tex.2d.v4.f32.s32 {%o0, %o1, %o2, %o3}, [%rd1, %rd2, {%c1, %c2}];";
  std::string const sust = "sust.b.2d.b32.trap [%rd1, {%c1, %c2}], %c4;";
  auto check = [](Finding const& f, Finding::Kind kind, std::string const& text) {
    INFO(f.message);
    CHECK(f.kind == kind);
    CHECK_THAT(f.message, Contains(text));
  };
  check(finding_of(sust, image, {}, {0, 64, 3}), Finding::Kind::out_of_bounds,
        "surface store of 4 bytes at (64, 3), x in bytes, of image 'img' (16x16 r32f)");
  check(finding_of(sust, image, {}, {0, 0, 16}), Finding::Kind::out_of_bounds, "(0, 16)");
  check(finding_of(sust, image, {}, {0, 6, 0}), Finding::Kind::misaligned, "multiple of 4");
  Sampler none;
  none.address.fill(AddressMode::none);
  check(finding_of(tex, image, none, {0, 16, 0}), Finding::Kind::out_of_bounds, "read at (16, 0)");
  auto const handle = [](std::uint64_t value) {
    return [value](Rig& rig) { std::memcpy(rig.bench.launch.parameters.data(), &value, 8); };
  };
  check(finding_of(tex, image, {}, {}, handle(0)), Finding::Kind::bad_image, "a null handle");
  check(finding_of(tex, image, {}, {}, handle(0x1234567)), Finding::Kind::bad_image, "the value 19088743");
  check(
      finding_of(tex, image, {}, {}, [](Rig& rig) { std::memcpy(rig.bench.launch.parameters.data(), &rig.image, 8); }),
      Finding::Kind::bad_image, "an address in buffer 'img'");
  check(finding_of("tex.1d.v4.f32.s32 {%o0, %o1, %o2, %o3}, [%rd1, {%c1}];", image, {}, {}), Finding::Kind::bad_image,
        "image 'img' (16x16 r32f) is 2d, the instruction asks for 1d");
  check(finding_of("tex.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd1, {%c1, %c2}], 0f3F000000;", image, {}, {}),
        Finding::Kind::unknown_opcode, "tex.2d.v4.f32.f32");
}

TEST_CASE("textures: where findings are passed over, reads give 0 and stores do nothing") {
  Image const image = image_2d("r32ui", 16, 16);
  Sampler none;
  none.address.fill(AddressMode::none);
  // Lane i is at x = i (or 4 i bytes): 16 lanes inside, 4 outside.
  auto const run = [&](std::string const& body, bool bytes, bool null_handle) {
    std::vector<Words> in;
    for (std::uint32_t i = 0; i < 20; ++i) in.push_back({0, bytes ? 4 * i : i, 2, 0, 500 + i, 0, 0, 0});
    Rig rig(kernel(body), image, none, in, [](std::span<std::byte> b) {
      for (std::uint32_t i = 0; i < 256; ++i) std::memcpy(b.data() + 4 * std::size_t{i}, &i, 4);
    });
    if (null_handle) std::memset(rig.bench.launch.parameters.data(), 0, 8);
    PassedOver passed_over;
    Limits limits;
    limits.passed_over = &passed_over;
    REQUIRE(rig.bench.run({}, limits).ending == Ending::done);
    auto const places = passed_over.take();
    REQUIRE(places.size() == 1);
    CHECK(places[0].times == (null_handle ? 20 : 4));
    return std::pair(rig.bench.read<std::array<std::uint32_t, 4>>(rig.out), rig.bench.read<std::uint32_t>(rig.image));
  };
  std::string const tex = "mov.b32 %o0, 7; tex.2d.v4.u32.f32 {%o0, %o1, %o2, %o3}, [%rd1, %rd2, {%c1, %c2}];";
  std::string const to_float = "cvt.rn.f32.u32 %c1, %c1; cvt.rn.f32.u32 %c2, %c2; ";
  for (bool const null_handle : {false, true}) {
    auto const [sampled, texels] = run(to_float + tex, false, null_handle);
    auto const [loaded, same] = run("mov.b32 %o0, 7; suld.b.2d.b32.trap {%o0}, [%rd1, {%c1, %c2}];", true, null_handle);
    auto const [nothing, stored] = run("sust.b.2d.b32.trap [%rd1, {%c1, %c2}], %c4;", true, null_handle);
    for (std::uint32_t i = 0; i < 20; ++i) {
      bool const inside = i < 16 && !null_handle;
      CHECK(sampled[i][0] == (inside ? 32 + i : 0));
      CHECK(loaded[i][0] == (inside ? 32 + i : 0));
    }
    for (std::uint32_t i = 0; i < 256; ++i) {
      CHECK(texels[i] == i);
      CHECK(stored[i] == (i / 16 == 2 && !null_handle ? 500 + i % 16 : i));
    }
  }
}

TEST_CASE("textures: an image must lie in its buffer and fit its geometry") {
  Memory memory(1 << 20);
  std::uint64_t const buffer = memory.add("b", 4096);
  Image good = image_2d("rgba8", 32, 32);
  good.address = buffer;
  CHECK_NOTHROW(memory.images().add(good));
  auto refused = [&](auto change) {
    Image bad = good;
    change(bad);
    CHECK_THROWS_AS(memory.images().add(bad), Error);
  };
  refused([](Image& i) { i.width = 33; });
  refused([](Image& i) { i.width = 0; });
  refused([](Image& i) { i.address += 4; });
  refused([](Image& i) { i.row_bytes = 64; });
  refused([](Image& i) { i.row_bytes = 130; });
  refused([](Image& i) { i.layers = 2; });
  refused([](Image& i) { i.geometry = Geometry::image_1d; });
  refused([](Image& i) { i.geometry = Geometry::cube, i.width = 4; });
}

TEST_CASE("textures: names of formats") {
  for (std::string const& text : format_names()) CHECK(name(*format_named(text)) == text);
  CHECK(format_names().size() == 11 * 12);
  for (char const* text : {"", "rgba", "8", "rgba9", "rgba8f", "rgbb8", "RGBA8"}) CHECK(!format_named(text));
  CHECK(format_named("bgra8")->texel_bytes() == 4);
  CHECK(format_named("rgba32f")->texel_bytes() == 16);
}

TEST_CASE("textures: observers hear of each image once, in a space of its own") {
  struct Watch : Observer {
    std::vector<MemoryAccess> events;
    std::vector<std::uint32_t> lanes, first;
    void memory(MemoryAccess const& a) override {
      if (a.space != ptx::StateSpace::tex) return;
      events.push_back(a);
      lanes.push_back(a.lanes.masks[0]);
      first.push_back(a.offsets[std::countr_zero(a.lanes.masks[0])]);
    }
    std::unique_ptr<Observer> fork() const override { return std::make_unique<Watch>(); }
    void join(Observer const&) override {}
  };
  // Odd lanes read a second image, half the lanes store.
  Random random{31};
  std::vector<Words> in(32);
  for (unsigned i = 0; i < 32; ++i) in[i] = {0, i % 4, i / 4, i % 2};
  Rig rig(
      kernel(
          "ld.global.u64 %rd8, [%rd4]; setp.eq.u32 %p0, %c3, 1; selp.b64 %rd8, %rd8, %rd1, %p0;\n"
          "tex.2d.v4.f32.s32 {%o0, %o1, %o2, %o3}, [%rd8, {%c1, %c2}];\n"
          "shl.b32 %c1, %c1, 4; setp.lt.u32 %p0, %r1, 16; @%p0 sust.b.2d.v2.b32.trap [%rd1, {%c1, %c2}], {%o0, %o1};"),
      image_2d("rgba32f", 4, 8), {}, in, [&](std::span<std::byte> b) { fill_random(b, random); });
  Image second = image_2d("r8", 4, 8);
  second.address = rig.bench.memory.add("second", 32);
  std::uint64_t const other = rig.bench.memory.images().add(second);
  std::memcpy(rig.bench.memory.bytes(rig.out).data(), &other, 8);
  Watch watch;
  Observer* const observers[] = {&watch};
  rig.bench.run(observers);
  REQUIRE(rig.bench.outcome.ending == Ending::done);
  REQUIRE(watch.events.size() == 3);
  CHECK(watch.lanes == std::vector<std::uint32_t>{0x55555555, 0xaaaaaaaa, 0xffff});
  CHECK(watch.first == std::vector<std::uint32_t>{0, 1, 0});
  CHECK(watch.events[0].bytes_per_lane == 16);
  CHECK(watch.events[1].bytes_per_lane == 1);
  CHECK(watch.events[2].bytes_per_lane == 8);
  CHECK(watch.events[0].base == rig.image);
  CHECK(watch.events[1].base == second.address);
  CHECK(watch.events[2].direction == Direction::store);
}
