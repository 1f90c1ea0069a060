// Conversions: among integers, to and from every float format, with every rounding and saturation, against tables of
// the small formats' values, the host's rounding modes and 128-bit integers.
#include <cfenv>

#include "catch.hpp"
#include "exact.hpp"
#include "opcode_cases.hpp"

namespace kernelcast::emu::test {
namespace {

std::vector<Case> convert_cases() {
  std::vector<Case> all;
  struct Type {
    std::string name;
    int width;
    bool sign;
    char letter;
  };
  Type const types[] = {{"u16", 16, false, 'h'}, {"s16", 16, true, 'h'},  {"u32", 32, false, 'w'},
                        {"s32", 32, true, 'w'},  {"u64", 64, false, 'd'}, {"s64", 64, true, 'd'}};
  auto value = [](Type const& t, u64 x) -> s128 {
    return t.sign ? s128{sx(x, t.width)} : static_cast<s128>(zx(x, t.width));
  };
  auto limits = [](Type const& t) {
    return std::pair<s128, s128>{t.sign ? -(s128{1} << (t.width - 1)) : s128{0},
                                 (s128{1} << (t.width - (t.sign ? 1 : 0))) - 1};
  };
  for (Type const& d : types) {
    for (Type const& s : types) {
      std::string const letters{d.letter, s.letter};
      all.push_back({"cvt." + d.name + "." + s.name, letters,
                     [=](u64 a, u64, u64, u64) { return zx(static_cast<u64>(value(s, a)), d.width); }});
      all.push_back({"cvt.sat." + d.name + "." + s.name, letters, [=](u64 a, u64, u64, u64) {
                       auto const [low, high] = limits(d);
                       return zx(static_cast<u64>(std::min(std::max(value(s, a), low), high)), d.width);
                     }});
    }
    for (char letter : {'f', 'g'}) {
      std::pair<std::string, std::function<long double(long double)>> const roundings[] = {
          {"rni", [](long double x) { return std::nearbyint(x); }},
          {"rzi", [](long double x) { return std::trunc(x); }},
          {"rmi", [](long double x) { return std::floor(x); }},
          {"rpi", [](long double x) { return std::ceil(x); }}};
      for (auto const& [suffix, round] : roundings) {
        auto const r = round;
        all.push_back({"cvt." + suffix + "." + d.name + (letter == 'f' ? ".f32" : ".f64"),
                       std::string{d.letter, letter}, [=](u64 a, u64, u64, u64) -> u64 {
                         long double const x =
                             letter == 'f' ? static_cast<long double>(f(a)) : static_cast<long double>(g(a));
                         if (std::isnan(x)) return letter == 'g' || d.width == 64 ? u64{1} << (d.width - 1) : 0;
                         auto const [low, high] = limits(d);
                         long double const whole = r(x);
                         s128 const clamped = whole <= static_cast<long double>(low)    ? low
                                              : whole >= static_cast<long double>(high) ? high
                                                                                        : static_cast<s128>(whole);
                         return zx(static_cast<u64>(clamped), d.width);
                       }});
      }
    }
    all.push_back({"cvt.rn.f32." + d.name, std::string{'f', d.letter}, [=](u64 a, u64, u64, u64) {
                     return bits(d.sign ? static_cast<float>(sx(a, d.width)) : static_cast<float>(zx(a, d.width)));
                   }});
    all.push_back({"cvt.rn.f64." + d.name, std::string{'g', d.letter}, [=](u64 a, u64, u64, u64) {
                     return bits(d.sign ? static_cast<double>(sx(a, d.width)) : static_cast<double>(zx(a, d.width)));
                   }});
  }
  all.push_back({"cvt.f64.f32", "gf", [](u64 a, u64, u64, u64) { return bits(static_cast<double>(f(a))); }});
  all.push_back({"cvt.rni.f32.f32", "ff", [](u64 a, u64, u64, u64) { return bits(std::nearbyint(f(a))); }});
  all.push_back({"cvt.rpi.f64.f64", "gg", [](u64 a, u64, u64, u64) { return bits(std::ceil(g(a))); }});
  all.push_back({"cvt.sat.f32.f32", "ff", [](u64 a, u64, u64, u64) {
                   float const x = f(a);
                   return bits(std::isnan(x) || x <= 0 ? 0.0f : std::min(x, 1.0f));
                 }});
  return all;
}

struct Small {
  std::string name;
  Table table;
  char letter, pair;
};
std::vector<Small> const& sixteen_bits() {
  static std::vector<Small> const all = {{"f16", Table::of(5, 10, true, false), 'k', 'x'},
                                         {"bf16", Table::of(8, 7, true, false), 'b', 'y'}};
  return all;
}
struct Mode {
  std::string name;
  Toward toward;
  int host;
};
Mode const modes[] = {{"rn", Toward::nearest_even, FE_TONEAREST},
                      {"rz", Toward::zero, FE_TOWARDZERO},
                      {"rm", Toward::down, FE_DOWNWARD},
                      {"rp", Toward::up, FE_UPWARD}};

long double rounded_to_integer(long double x, Toward toward) {
  return toward == Toward::nearest_even ? std::nearbyint(x)
         : toward == Toward::zero       ? std::trunc(x)
         : toward == Toward::down       ? std::floor(x)
                                        : std::ceil(x);
}
long double unit_interval(long double x) {
  return std::isnan(x) || x <= 0 ? 0.0L : std::min(x, 1.0L);
}

// Sources that a long double holds exactly.
struct Source {
  std::string name;
  char letter;
  std::function<long double(u64)> value;
};
std::vector<Source> sources() {
  std::vector<Source> all = {{"f32", 'f', [](u64 a) { return static_cast<long double>(f(a)); }},
                             {"f64", 'g', [](u64 a) { return static_cast<long double>(g(a)); }}};
  for (Small const& s : sixteen_bits()) all.push_back({s.name, s.letter, [t = s.table](u64 a) { return t.value(a); }});
  for (int width : {16, 32, 64})
    for (bool sign : {false, true})
      all.push_back({(sign ? "s" : "u") + std::to_string(width),
                     width == 16   ? 'h'
                     : width == 32 ? 'w'
                                   : 'd',
                     [=](u64 a) {
                       return sign ? static_cast<long double>(sx(a, width)) : static_cast<long double>(zx(a, width));
                     }});
  return all;
}

std::vector<Case> to_sixteen_bits() {
  std::vector<Case> all;
  for (Small const& d : sixteen_bits())
    for (Source const& s : sources()) {
      if (s.name == d.name) continue;
      for (Mode const& m : modes)
        for (bool sat : {false, true})
          all.push_back({"cvt." + m.name + (sat ? ".sat." : ".") + d.name + "." + s.name,
                         std::string{d.letter, s.letter},
                         [t = d.table, v = s.value, toward = m.toward, sat](u64 a, u64, u64, u64) {
                           return t.code(sat ? unit_interval(v(a)) : v(a), toward, false);
                         }});
    }
  return all;
}

std::vector<Case> from_sixteen_bits() {
  std::vector<Case> all;
  for (Small const& s : sixteen_bits()) {
    Table const t = s.table;
    for (Mode const& m : modes) {
      Toward const toward = m.toward;
      all.push_back(
          {"cvt." + m.name + "i." + s.name + "." + s.name, std::string{s.letter, s.letter},
           [=](u64 a, u64, u64, u64) { return t.code(rounded_to_integer(t.value(a), toward), toward, false); }});
      for (int width : {16, 32, 64})
        for (bool sign : {false, true}) {
          all.push_back({"cvt." + m.name + "i." + (sign ? "s" : "u") + std::to_string(width) + "." + s.name,
                         std::string{width == 16   ? 'h'
                                     : width == 32 ? 'w'
                                                   : 'd',
                                     s.letter},
                         [=](u64 a, u64, u64, u64) -> u64 {
                           long double const x = t.value(a);
                           if (std::isnan(x)) return width == 64 ? u64{1} << 63 : 0;
                           long double const low = sign ? -std::ldexp(1.0L, width - 1) : 0,
                                             high = std::ldexp(1.0L, sign ? width - 1 : width) - 1;
                           long double const whole = std::min(std::max(rounded_to_integer(x, toward), low), high);
                           return whole < 0 ? zx(static_cast<u64>(static_cast<std::int64_t>(whole)), width)
                                            : static_cast<u64>(whole);
                         }});
        }
    }
    all.push_back({"cvt.f32." + s.name, std::string{'f', s.letter},
                   [=](u64 a, u64, u64, u64) { return bits(static_cast<float>(t.value(a))); }});
    all.push_back({"cvt.sat.f32." + s.name, std::string{'f', s.letter},
                   [=](u64 a, u64, u64, u64) { return bits(static_cast<float>(unit_interval(t.value(a)))); }});
    all.push_back({"cvt.f64." + s.name, std::string{'g', s.letter},
                   [=](u64 a, u64, u64, u64) { return bits(static_cast<double>(t.value(a))); }});
  }
  return all;
}

// Two values into one register, from f32 or from a pair; .relu and .satfinite.
std::vector<Case> packed_conversions() {
  std::vector<Case> all;
  auto relu = [](long double x) { return std::isnan(x) ? x : std::signbit(x) ? 0.0L : x; };
  struct Pair {
    std::string name;
    Table table;
    int stride;
    char letter;
  };
  std::vector<Pair> const pairs = {
      {"f16x2", Table::of(5, 10, true, false), 16, 'w'}, {"bf16x2", Table::of(8, 7, true, false), 16, 'w'},
      {"e4m3x2", Table::of(4, 3, false, true), 8, 'h'},  {"e5m2x2", Table::of(5, 2, true, false), 8, 'h'},
      {"e2m3x2", Table::of(2, 3, false, false), 8, 'h'}, {"e3m2x2", Table::of(3, 2, false, false), 8, 'h'},
      {"e2m1x2", Table::of(2, 1, false, false), 4, 'c'}};
  for (Pair const& p : pairs)
    for (bool rectify : {false, true}) {
      bool const wide = p.stride == 16;
      // A NaN loses its sign; formats without NaN take the largest number.
      auto code = [=, t = p.table](long double x, Toward toward, bool finite) {
        return t.code(std::isnan(x) ? static_cast<long double>(NAN) : rectify ? relu(x) : x, toward, finite);
      };
      std::string const r = rectify ? ".relu" : "";
      for (bool zero : {false, true})
        for (bool finite : {false, true}) {
          if (!wide && (zero || !finite)) continue;
          Toward const toward = zero ? Toward::zero : Toward::nearest_even;
          all.push_back({std::string(zero ? "cvt.rz" : "cvt.rn") +
                             (wide ? r + (finite ? ".satfinite" : "") : ".satfinite" + r) + "." + p.name + ".f32",
                         std::string{p.letter, 'f', 'f'}, [=](u64 a, u64 b, u64, u64) {
                           return code(f(a), toward, finite) << p.stride | code(f(b), toward, finite);
                         }});
          if (!wide) continue;
          std::string const single = p.name.substr(0, p.name.size() - 2);
          all.push_back({std::string(zero ? "cvt.rz" : "cvt.rn") + r + (finite ? ".satfinite." : ".") + single + ".f32",
                         single == "f16" ? "kf" : "bf",
                         [=](u64 a, u64, u64, u64) { return code(f(a), toward, finite); }});
        }
      if (wide) continue;
      Table const half = Table::of(5, 10, true, false);
      Table const own = p.table;
      int const stride = p.stride;
      all.push_back({"cvt.rn" + r + ".f16x2." + p.name, std::string{'x', p.letter}, [=](u64 a, u64, u64, u64) {
                       auto one = [&](u64 x) {
                         long double const v = own.value(x & ((u64{1} << own.bits) - 1));
                         return half.code(rectify ? relu(v) : v, Toward::nearest_even, false);
                       };
                       return one(a >> stride) << 16 | one(a);
                     }});
      if (p.name != "e4m3x2" && p.name != "e5m2x2") continue;
      all.push_back({"cvt.rn.satfinite" + r + "." + p.name + ".f16x2", "hx", [=](u64 a, u64, u64, u64) {
                       return code(half.value(a >> 16), Toward::nearest_even, true) << 8 |
                              code(half.value(a & 0xffff), Toward::nearest_even, true);
                     }});
    }
  // Powers of two: of the magnitude, downwards or upwards.
  auto power = [](long double x, bool up, bool finite) -> u64 {
    if (std::isnan(x)) return 255;
    x = std::fabs(x);
    if (std::isinf(x)) return finite ? 254 : 255;
    for (int code = 0; code < 255; ++code) {
      long double const v = std::ldexp(1.0L, code - 127);
      if (up ? x <= v : x < 2 * v) return static_cast<u64>(code);
    }
    return finite ? 254 : 255;
  };
  for (bool up : {false, true})
    for (bool finite : {false, true}) {
      std::string const head = std::string(up ? "cvt.rp" : "cvt.rz") + (finite ? ".satfinite" : "") + ".ue8m0x2.";
      all.push_back({head + "f32", "hff",
                     [=](u64 a, u64 b, u64, u64) { return power(f(a), up, finite) << 8 | power(f(b), up, finite); }});
      Table const brain = Table::of(8, 7, true, false);
      all.push_back({head + "bf16x2", "hy", [=](u64 a, u64, u64, u64) {
                       return power(brain.value(a >> 16), up, finite) << 8 | power(brain.value(a & 0xffff), up, finite);
                     }});
    }
  all.push_back({"cvt.rn.bf16x2.ue8m0x2", "yh", [](u64 a, u64, u64, u64) {
                   auto one = [](u64 x) -> u64 { return x == 255 ? 0x7fff : x == 0 ? 0x40 : x << 7; };
                   return one(a >> 8) << 16 | one(a & 255);
                 }});
  return all;
}

std::vector<Case> tf32_and_random() {
  std::vector<Case> all;
  Table const table = Table::of(8, 10, true, false);  // its codes are the upper 19 bits
  auto put = [&](std::string const& modifiers, Toward toward, bool finite, bool relu) {
    all.push_back({"cvt" + modifiers + ".tf32.f32", "wf", [=](u64 a, u64, u64, u64) -> u64 {
                     float const x = f(a);
                     if (std::isnan(x)) return 0x7fffffff;
                     return table.code(relu && std::signbit(x) ? 0.0L : static_cast<long double>(x), toward, finite)
                            << 13;
                   }});
  };
  put(".rna", Toward::nearest_away, false, false);
  put(".rna.satfinite", Toward::nearest_away, true, false);
  for (bool finite : {false, true})
    for (bool relu : {false, true}) {
      std::string const tail = std::string(finite ? ".satfinite" : "") + (relu ? ".relu" : "");
      put(".rn" + tail, Toward::nearest_even, finite, relu);
      put(".rz" + tail, Toward::zero, finite, relu);
    }
  // Stochastic: the given bits are added below the last bit that is kept, then truncated. On f32 of the format's range
  // of normal numbers this is an addition of integers.
  for (bool brain : {false, true}) {
    int const dropped = brain ? 16 : 13;
    auto one = [=](u64 x, u64 random) -> u64 {
      u64 const sum = (x & 0x7fffffff) + (random & ((u64{1} << dropped) - 1));
      u64 const sign = x >> 16 & 0x8000;
      return brain ? sign | sum >> 16 : sign | ((sum >> 13) - (u64{112} << 10));
    };
    all.push_back({std::string("cvt.rs.") + (brain ? "bf16x2" : "f16x2") + ".f32", "wwww",
                   [=](u64 a, u64 b, u64 c, u64) {
                     auto tame = [](u64 x) { return (x & 0x807fffff) | (u64{120} + (x >> 23 & 7)) << 23; };
                     return one(tame(a), c >> 16) << 16 | one(tame(b), c & 0xffff);
                   },
                   std::string("{0}, {1}, {2}, {3}; ") +
                       "bfe.u32 %x3, {1}, 23, 3; add.u32 %x3, %x3, 120; bfi.b32 {1}, %x3, {1}, 23, 8; "
                       "bfe.u32 %x3, {2}, 23, 3; add.u32 %x3, %x3, 120; bfi.b32 {2}, %x3, {2}, 23, 8; cvt.rs." +
                       (brain ? "bf16x2" : "f16x2") + ".f32 {0}, {1}, {2}, {3}"});
  }
  return all;
}

// Four values a, b, c and again a, with the random bits of d: the number of 1 / 2^n of the way from the neighbour
// towards zero to the one away from it, plus n random bits, reaches 2^n or does not.
std::vector<Case> random_in_fours() {
  std::vector<Case> all;
  struct Four {
    std::string name;
    Table table;
    int stride;
  };
  for (Four const& d :
       {Four{"e4m3x4", Table::of(4, 3, false, true), 8}, Four{"e5m2x4", Table::of(5, 2, true, false), 8},
        Four{"e2m3x4", Table::of(2, 3, false, false), 8}, Four{"e3m2x4", Table::of(3, 2, false, false), 8},
        Four{"e2m1x4", Table::of(2, 1, false, false), 4}})
    for (bool rectify : {false, true}) {
      int const random_bits = d.stride == 4 ? 8 : 16;
      auto one = [=, t = d.table](u64 code, u64 random) -> u64 {
        long double x = f(code);
        if (std::isnan(x)) return t.code(static_cast<long double>(NAN), Toward::zero, true);
        if (rectify && std::signbit(x)) x = 0;
        u64 const sign = u64{std::signbit(x)} << (t.bits - 1);
        u64 const below = t.code(std::fabs(x), Toward::zero, true);
        long double const low = t.value(below), high = t.value(below + 1);
        u64 const largest = t.code(static_cast<long double>(INFINITY), Toward::zero, true);
        if (below == largest) return sign | below;
        auto const part = static_cast<u64>(std::floor(std::ldexp((std::fabs(x) - low) / (high - low), random_bits)));
        return sign | (below + (part + random >= u64{1} << random_bits));
      };
      all.push_back({std::string("cvt.rs") + (rectify ? ".relu" : "") + ".satfinite." + d.name + ".f32",
                     d.stride == 4 ? "hfffw" : "wfffw",
                     [=](u64 a, u64 b, u64 c, u64 r) {
                       u64 const upper = r >> 16 & 0xffff, lower = r & 0xffff;
                       if (d.stride == 4)
                         return one(a, upper >> 8) << 12 | one(b, lower >> 8) << 8 | one(c, upper & 255) << 4 |
                                one(a, lower & 255);
                       return one(a, upper) << 24 | one(b, upper) << 16 | one(c, lower) << 8 | one(a, lower);
                     },
                     "{0}, {{1}, {2}, {3}, {1}}, {4}"});
    }
  return all;
}

std::vector<Case> flushing_conversions() {
  auto flush = [](float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; };
  std::vector<Case> all;
  all.push_back({"cvt.ftz.f32.f32", "ff", [=](u64 a, u64, u64, u64) { return bits(flush(f(a))); }});
  all.push_back(
      {"cvt.ftz.f64.f32", "gf", [=](u64 a, u64, u64, u64) { return bits(static_cast<double>(flush(f(a)))); }});
  all.push_back({"cvt.ftz.sat.f64.f32", "gf",
                 [=](u64 a, u64, u64, u64) { return bits(static_cast<double>(unit_interval(flush(f(a))))); }});
  all.push_back({"cvt.rpi.ftz.sat.f32.f32", "ff", [=](u64 a, u64, u64, u64) {
                   return bits(static_cast<float>(unit_interval(std::ceil(flush(f(a))))));
                 }});
  all.push_back({"cvt.rn.ftz.sat.f32.f64", "fg",
                 [=](u64 a, u64, u64, u64) { return bits(flush(static_cast<float>(unit_interval(g(a))))); }});
  for (Mode const& m : modes) {
    int const host = m.host;
    all.push_back({"cvt." + m.name + ".ftz.f32.f64", "fg", [=](u64 a, u64, u64, u64) {
                     std::fesetround(host);
                     double volatile x = g(a);
                     float const volatile r = static_cast<float>(x);
                     std::fesetround(FE_TONEAREST);
                     return bits(flush(static_cast<float>(r)));
                   }});
    Toward const toward = m.toward;
    all.push_back({"cvt." + m.name + "i.ftz.s32.f32", "wf", [=](u64 a, u64, u64, u64) -> u64 {
                     float const x = flush(f(a));
                     if (std::isnan(x)) return 0;
                     long double const whole = rounded_to_integer(x, toward);
                     return zx(static_cast<u64>(
                                   static_cast<std::int64_t>(std::min(std::max(whole, -2147483648.0L), 2147483647.0L))),
                               32);
                   }});
  }
  return all;
}

}  // namespace

TEST_CASE("conversions round, clamp and extend as PTX says") {
  check_all(convert_cases());
}
TEST_CASE("conversions to f16 and bf16 choose the neighbour that the rounding says") {
  check_all(to_sixteen_bits());
}
TEST_CASE("conversions from f16 and bf16 give the value of their code") {
  check_all(from_sixteen_bits());
}
TEST_CASE("packed conversions to and from formats of 4 to 16 bits follow their tables of values") {
  check_all(packed_conversions());
}
TEST_CASE("tf32 and stochastic rounding") {
  check_all(tf32_and_random());
  check_all(random_in_fours());
}
TEST_CASE("conversions with .ftz make subnormal f32 zero") {
  check_all(flushing_conversions());
}

}  // namespace kernelcast::emu::test
