// Sampling against a reference of another build: texel indices are found without folding coordinates, in double
// precision, by repeating and reflecting an endless row of texels. Where a coordinate lies within rounding of a
// boundary (of a texel, or of a weight's step) either side is right.
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "texture_rig.hpp"

using namespace kernelcast;
using namespace kernelcast::emu;
using namespace kernelcast::emu::test;

namespace {

using Values = std::array<double, 4>;

constexpr AddressMode all_modes[] = {
    AddressMode::wrap,          AddressMode::mirror,          AddressMode::clamp_ogl,
    AddressMode::clamp_to_edge, AddressMode::clamp_to_border, AddressMode::mirror_once};

// Texels as doubles: integer formats as they are.
class Reference {
 public:
  Reference(Image const& image, Sampler const& sampler, std::span<std::byte const> bytes)
      : image_(image), sampler_(sampler), bytes_(bytes) {}

  Values texel(std::int64_t x, std::int64_t y, std::int64_t z) const {
    if (x < 0 || y < 0 || z < 0) return border();
    unsigned const step = size_bytes(image_.format.type);
    std::byte const* at = bytes_.data() + static_cast<std::uint64_t>(z) * image_.slice_pitch() +
                          static_cast<std::uint64_t>(y) * image_.row_pitch() +
                          static_cast<std::uint64_t>(x) * image_.format.texel_bytes();
    std::string const order = name(image_.format);
    std::string letters = order.substr(0, order.find_first_of("0123456789"));
    Values value{0, 0, 0, 1};
    if (letters == "i") {
      value.fill(channel(at));
    } else if (letters == "l") {
      value[0] = value[1] = value[2] = channel(at);
    } else {
      if (letters.find('a') != std::string::npos) value[3] = 0;
      for (char const letter : letters) {
        value[std::string("rgba").find(letter)] = channel(at);
        at += step;
      }
    }
    return value;
  }
  Values border() const {
    std::string const order = name(image_.format);
    bool const alpha =
        order[0] == 'i' || order.substr(0, order.find_first_of("0123456789")).find('a') != std::string::npos;
    return {0, 0, 0, alpha ? 0.0 : 1.0};
  }

  // One dimension: index of a texel of the endless row, or -1 for the border.
  static std::int64_t settle(std::int64_t index, std::int64_t n, AddressMode mode) {
    auto const modulo = [](std::int64_t a, std::int64_t b) { return (a % b + b) % b; };
    if (mode == AddressMode::wrap) return modulo(index, n);
    if (mode == AddressMode::mirror) {
      std::int64_t const m = modulo(index, 2 * n);
      return m < n ? m : 2 * n - 1 - m;
    }
    if (mode == AddressMode::mirror_once && index < 0) index = -1 - index;
    if (mode == AddressMode::clamp_to_border && (index < 0 || index >= n)) return -1;
    return std::clamp<std::int64_t>(index, 0, n - 1);
  }

  struct Axis {
    std::int64_t index[2];
    double weight;
  };
  Axis axis(double s, std::int64_t n, AddressMode mode, bool normalized, bool linear, double nudge) const {
    if (std::isnan(s)) s = 0;
    bool const folds = mode == AddressMode::wrap || mode == AddressMode::mirror;
    if (!normalized && (folds || mode == AddressMode::mirror_once)) mode = AddressMode::clamp_to_edge;
    if (normalized && folds) s = std::isinf(s) ? 0 : std::fmod(s, 2.0);
    double u = (normalized ? s * static_cast<double>(n) : s) + nudge;
    u = std::clamp(u, -1e9, 1e9);
    if (mode == AddressMode::clamp_ogl) {
      u = std::clamp(u, 0.0, static_cast<double>(n));
      mode = linear ? AddressMode::clamp_to_border : AddressMode::clamp_to_edge;
    }
    Axis a{};
    double const corner = linear ? u - 0.5 : u;
    auto const first = static_cast<std::int64_t>(std::floor(corner));
    a.index[0] = settle(first, n, mode);
    a.index[1] = settle(first + 1, n, mode);
    a.weight = linear ? std::floor((corner - std::floor(corner)) * 256 + 0.5) / 256 : 0;
    return a;
  }

  // Everything that is right: one value for each way that coordinates may have been rounded.
  std::vector<Values> sample(std::array<float, 3> at, std::uint32_t layer, unsigned dimensions, bool cube) const {
    bool const linear = sampler_.filter == Filter::linear && !is_integer(image_.format.type);
    auto slice = static_cast<std::int64_t>(std::min(layer, image_.layers - 1)) * (cube ? 6 : 1);
    bool normalized = sampler_.normalized;
    std::array<AddressMode, 3> modes = sampler_.address;
    std::array<double, 3> s{at[0], at[1], at[2]};
    if (cube) {
      // [cuda] table of cube faces: axis, sign, which coordinate becomes s and t and with which sign.
      unsigned major = 0;
      for (unsigned d = 1; d < 3; ++d)
        if (std::fabs(s[d]) >= std::fabs(s[major])) major = d;
      bool const negative = s[major] < 0;
      slice += 2 * major + negative;
      double const m = std::fabs(s[major]);
      double const face_s = major == 0 ? (negative ? s[2] : -s[2]) : major == 1 ? s[0] : (negative ? -s[0] : s[0]);
      double const face_t = major == 1 ? (negative ? -s[2] : s[2]) : -s[1];
      s = {(face_s / m + 1) / 2, (face_t / m + 1) / 2, 0};
      normalized = true;
      modes.fill(AddressMode::clamp_to_edge);
      dimensions = 2;
    }
    std::int64_t const sizes[] = {image_.width, image_.height, image_.depth};
    std::vector<Values> right;
    unsigned const ways = dimensions == 1 ? 3 : dimensions == 2 ? 9 : 27;
    for (unsigned way = 0; way < ways; ++way) {
      std::array<Axis, 3> axes{};
      for (unsigned d = 0, rest = way; d < dimensions; ++d, rest /= 3) {
        double const scale =
            std::max(1.0, std::isfinite(s[d]) ? std::fabs(s[d]) * (normalized ? double(sizes[d]) : 1.0) : 1.0);
        double const nudge = (static_cast<int>(rest % 3) - 1) * std::min(scale * 4e-7, 1.0);
        axes[d] = axis(s[d], sizes[d], modes[d], normalized, linear, nudge);
      }
      Values sum{};
      for (unsigned corner = 0; corner < (linear ? 1u << dimensions : 1u); ++corner) {
        double weight = 1;
        std::int64_t where[3] = {0, 0, 0};
        for (unsigned d = 0; d < dimensions; ++d) {
          bool const high = corner >> d & 1;
          weight *= high ? axes[d].weight : 1 - axes[d].weight;
          where[d] = axes[d].index[high];
        }
        if (weight == 0) continue;
        bool const outside = where[0] < 0 || where[1] < 0 || where[2] < 0;
        Values const v = outside ? border() : texel(where[0], where[1], where[2] + slice);
        for (unsigned c = 0; c < 4; ++c) sum[c] += weight * v[c];
      }
      right.push_back(sum);
    }
    return right;
  }

 private:
  template <class T>
  static double as(std::byte const* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  }
  double channel(std::byte const* at) const {
    switch (image_.format.type) {
      case ChannelType::unorm8:
        return as<std::uint8_t>(at) / 255;
      case ChannelType::unorm16:
        return as<std::uint16_t>(at) / 65535;
      case ChannelType::snorm8:
        return std::max(-1.0, as<std::int8_t>(at) / 127);
      case ChannelType::snorm16:
        return std::max(-1.0, as<std::int16_t>(at) / 32767);
      case ChannelType::sint8:
        return as<std::int8_t>(at);
      case ChannelType::sint16:
        return as<std::int16_t>(at);
      case ChannelType::sint32:
        return as<std::int32_t>(at);
      case ChannelType::uint8:
        return as<std::uint8_t>(at);
      case ChannelType::uint16:
        return as<std::uint16_t>(at);
      case ChannelType::uint32:
        return as<std::uint32_t>(at);
      case ChannelType::half: {
        std::uint16_t h;
        std::memcpy(&h, at, 2);
        int const exponent = h >> 10 & 31, mantissa = h & 1023;
        double const size = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
        return h & 0x8000 ? -size : size;
      }
      case ChannelType::float32:
        break;
    }
    return as<float>(at);
  }

  Image image_;
  Sampler sampler_;
  std::span<std::byte const> bytes_;
};

double value_of(std::uint32_t bits, ChannelType type) {
  if (!is_integer(type)) return std::bit_cast<float>(bits);
  return type <= ChannelType::sint32 ? static_cast<double>(static_cast<std::int32_t>(bits)) : bits;
}

float coordinate(Random& random, float size, bool normalized) {
  switch (random.below(24)) {
    case 0:
      return std::numeric_limits<float>::quiet_NaN();
    case 1:
      return std::numeric_limits<float>::infinity();
    case 2:
      return -std::numeric_limits<float>::infinity();
    case 3:
      return 3e38f;
    case 4:
      return -1e12f;
    case 5:
      return 0.0f;
    case 6:  // a texel's edge
      return static_cast<float>(static_cast<int>(random.below(20)) - 5) / (normalized ? size : 1.0f);
    default:
      break;
  }
  float const range = random.below(4) == 0 ? 16.0f : 3.0f;
  return (static_cast<float>(random.below(1 << 22)) / (1 << 22) * range - range / 2) * (normalized ? 1.0f : size);
}

bool close(double have, double want) {
  return std::fabs(have - want) <= 2e-6 * std::max(1.0, std::fabs(want));
}

// Random coordinates in one image; how many values were compared.
std::size_t compare(TextureShape const& shape, Format format, Sampler const& sampler, bool unified, Random& random) {
  std::string const type = !is_integer(format.type) ? "f32" : format.type <= ChannelType::sint32 ? "s32" : "u32";
  std::string const body = std::string("tex.") + shape.ptx + ".v4." + type + ".f32 {%o0, %o1, %o2, %o3}, [%rd1, " +
                           (unified ? "" : "%rd2, ") + operands(shape) + "];";
  Image const image = image_of(shape, format, random);
  std::vector<Words> in(64);
  float const sizes[] = {float(image.width), float(image.height), float(image.depth)};
  for (Words& w : in) {
    w[0] = random.below(6);
    for (unsigned d = 0; d < 3; ++d)
      w[d + 1] = std::bit_cast<std::uint32_t>(shape.cube ? static_cast<float>(random.below(4001)) / 1000 - 2
                                                         : coordinate(random, sizes[d], sampler.normalized));
  }
  Rig rig(kernel(body), image, sampler, in, [&](std::span<std::byte> bytes) { fill(bytes, format.type, random); });
  auto const have = rig.run();
  Reference const reference(image, sampler, rig.bench.memory.bytes(rig.image));
  std::size_t compared = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    std::array<float, 3> const at{std::bit_cast<float>(in[i][1]), std::bit_cast<float>(in[i][2]),
                                  std::bit_cast<float>(in[i][3])};
    auto const right = reference.sample(at, shape.layered ? in[i][0] : 0, shape.dimensions, shape.cube);
    Values value{};
    for (unsigned c = 0; c < 4; ++c) value[c] = value_of(have[i][c], format.type);
    bool const found = std::any_of(right.begin(), right.end(), [&](Values const& r) {
      return close(value[0], r[0]) && close(value[1], r[1]) && close(value[2], r[2]) && close(value[3], r[3]);
    });
    ++compared;
    if (found) continue;
    Values const& r = right[right.size() / 2];
    FAIL(name(shape.geometry) << " " << name(format) << " " << image.width << "x" << image.height << "x" << image.depth
                              << " mode " << int(sampler.address[0]) << "," << int(sampler.address[1]) << ","
                              << int(sampler.address[2]) << (sampler.normalized ? " normalised" : "")
                              << (sampler.filter == Filter::linear ? " linear" : "") << " at " << at[0] << ", " << at[1]
                              << ", " << at[2] << " layer " << in[i][0] << ": " << value[0] << " " << value[1] << " "
                              << value[2] << " " << value[3] << ", expected " << r[0] << " " << r[1] << " " << r[2]
                              << " " << r[3]);
  }
  return compared;
}

}  // namespace

TEST_CASE("textures: every geometry, address mode and filter, random coordinates") {
  Random random{11};
  std::size_t compared = 0;
  for (TextureShape const& shape : shapes)
    for (AddressMode const mode : all_modes)
      for (int filter = 0; filter < 2; ++filter)
        for (int normalized = 0; normalized < 2; ++normalized)
          for (char const* format : {"rgba32f", "r8", "rg16_snorm", "r32i"}) {
            Sampler sampler;
            sampler.address.fill(mode);
            if (random.below(3) == 0) sampler.address[1] = all_modes[random.below(6)];
            sampler.filter = static_cast<Filter>(filter);
            sampler.normalized = normalized;
            compared += compare(shape, *format_named(format), sampler, random.below(2), random);
          }
  CHECK(compared == 8 * 6 * 2 * 2 * 4 * 64);
}

TEST_CASE("textures: every format, nearest and linear") {
  Random random{12};
  std::size_t formats = 0;
  for (std::string const& text : format_names())
    for (int filter = 0; filter < 2; ++filter) {
      Sampler sampler;
      sampler.filter = static_cast<Filter>(filter);
      sampler.address.fill(AddressMode::clamp_to_border);
      formats += compare(shapes[2], *format_named(text), sampler, true, random) == 64;
    }
  CHECK(formats == 2 * 11 * 12);
}
