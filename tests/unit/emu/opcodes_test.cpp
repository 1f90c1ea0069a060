// Every arithmetic opcode against an independent computation on one value at a time, for random operands and the
// special ones (zero, extremes, NaN, infinities, subnormals, wide shift amounts), with all lanes, with a partial group,
// and with a part of the lanes masked off.
#include <bit>
#include <cfenv>
#include <cmath>
#include <functional>

#include "catch.hpp"
#include "harness.hpp"

namespace kernelcast::emu::test {
namespace {

using u64 = std::uint64_t;
using u32 = std::uint32_t;
using Reference = std::function<u64(u64, u64, u64, u64)>;
__extension__ typedef __int128 s128;
__extension__ typedef unsigned __int128 u128;

struct Case {
  std::string opcode;
  std::string operands;  // one letter each, destination first: p predicate, h 16, w 32, d 64 bits, f f32, g f64
  Reference reference;
};

float f(u64 bits) {
  return std::bit_cast<float>(static_cast<u32>(bits));
}
double g(u64 bits) {
  return std::bit_cast<double>(bits);
}
// Volatile operands keep the compiler from folding or contracting what it computes for the reference.
u64 bits(float x) {
  return std::isnan(x) ? 0x7fffffffu : std::bit_cast<u32>(x);
}
u64 bits(double x) {
  return std::isnan(x) ? 0x7ff8000000000000u : std::bit_cast<u64>(x);
}
std::int64_t sx(u64 value, int width) {
  return static_cast<std::int64_t>(value << (64 - width)) >> (64 - width);
}
u64 zx(u64 value, int width) {
  return width == 64 ? value : value & ((u64{1} << width) - 1);
}

int width_of(char letter) {
  return letter == 'h' ? 16 : letter == 'd' || letter == 'g' ? 64 : 32;
}
std::string register_of(char letter, int index) {
  char const* bank = letter == 'p' ? "%p" : letter == 'h' ? "%h" : width_of(letter) == 64 ? "%d" : "%w";
  return bank + std::to_string(index);
}

// Operands come as 64-bit words, one array each; the result goes out as one.
std::string kernel_text(Case const& c) {
  std::string text =
      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 e, .param .u64 r, .param .u32 mask) "
      "{\n"
      ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %w<8>; .reg .b32 %x<8>; .reg .b64 %d<8>; .reg .b64 %a<16>;\n"
      "mov.u32 %x0, %tid.x; ld.param.u32 %x1, [mask]; mul.wide.u32 %a0, %x0, 8;\n"
      "ld.param.u64 %a6, [r]; add.s64 %a6, %a6, %a0;\n"
      // Lane l is off where bit l mod 32 of the mask is 0.
      "and.b32 %x2, %x0, 31; shr.u32 %x3, %x1, %x2; and.b32 %x3, %x3, 1; setp.eq.s32 %p7, %x3, 0; @%p7 bra OUT;\n";
  char const* names[] = {"a", "b", "c", "e"};
  for (std::size_t i = 1; i < c.operands.size(); ++i) {
    char const letter = c.operands[i];
    std::string const n = std::to_string(i);
    text += "ld.param.u64 %a" + n + ", [" + names[i - 1] + "]; add.s64 %a" + n + ", %a" + n + ", %a0;\n";
    std::string const reg = register_of(letter, static_cast<int>(i));
    if (letter == 'p')
      text += "ld.global.u32 %w0, [%a" + n + "]; setp.ne.u32 " + reg + ", %w0, 0;\n";
    else
      text += "ld.global.b" + std::to_string(width_of(letter)) + " " + reg + ", [%a" + n + "];\n";
  }
  text += c.opcode + " " + register_of(c.operands[0], 0);
  for (std::size_t i = 1; i < c.operands.size(); ++i) text += ", " + register_of(c.operands[i], static_cast<int>(i));
  text += ";\n";
  switch (c.operands[0]) {
    case 'p':
      text += "selp.u32 %w0, 1, 0, %p0; cvt.u64.u32 %d0, %w0;\n";
      break;
    case 'h':
      text += "cvt.u64.u16 %d0, %h0;\n";
      break;
    case 'd':
    case 'g':
      break;
    default:
      text += "cvt.u64.u32 %d0, %w0;\n";
  }
  return text + "st.global.u64 [%a6], %d0;\nOUT: ret;\n}\n";
}

u64 operand(Random& random, char letter) {
  static constexpr u64 special32[] = {
      0,          1,          2,          31,         32,         33,         64,         0x7fffffff,
      0x80000000, 0xffffffff, 0x7f800000, 0xff800000, 0x7fc00001, 0xffffffff, 0x00000001, 0x80000001,
      0x007fffff, 0x00800000, 0x3f800000, 0xbf800000, 0x4f000000, 0xcf000000, 0x4f800000, 0x3f000000,
      0x3fc00000, 0x40200000, 0x477fe000, 0x477ff000, 0x33000000, 0x33000001, 0x5f000000, 0x5f800000};
  static constexpr u64 special64[] = {0,
                                      1,
                                      63,
                                      64,
                                      65,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      0xffffffffffffffff,
                                      0x7ff0000000000000,
                                      0xfff0000000000000,
                                      0x7ff8000000000001,
                                      0x000fffffffffffff,
                                      0x0010000000000000,
                                      0x3ff0000000000000,
                                      0xbff8000000000000,
                                      0x41e0000000000000,
                                      0xc1e0000000000000,
                                      0x43e0000000000000,
                                      0xc3e0000000000000,
                                      0x43f0000000000000,
                                      0x4004000000000000,
                                      0xffffffff00000000,
                                      0x00000000ffffffff,
                                      0x3690000000000000,
                                      0x36a0000000000000,
                                      0x47efffffe0000000,
                                      0x47effffff0000000,
                                      0x40effc0000000000};
  static constexpr u64 special16[] = {0,      1,      15,     16,     0x7fff, 0x8000, 0xffff, 0x7c00,
                                      0xfc00, 0x7e01, 0x03ff, 0x0400, 0x3c00, 0xbe00, 0x7bff};
  u64 const draw = random();
  bool const special = random.below(3) == 0;
  switch (letter) {
    case 'p':
      return draw & 1;
    case 'h':
      return special ? special16[draw % std::size(special16)] : draw & 0xffff;
    case 'w':
      return special ? special32[draw % std::size(special32)] : random.below(2) ? draw & 0xffffffff : draw % 70;
    case 'd':
      return special ? special64[draw % std::size(special64)] : random.below(2) ? draw : draw >> random.below(64);
    case 'f':
      // Mostly of everyday size, so that sums and products are interesting.
      return special           ? special32[draw % std::size(special32)]
             : random.below(4) ? (draw & 0x807fffff) | (u64{100} + random.below(56)) << 23
                               : draw & 0xffffffff;
    default:
      return special           ? special64[draw % std::size(special64)]
             : random.below(4) ? (draw & 0x800fffffffffffff) | (u64{990} + random.below(70)) << 52
                               : draw;
  }
}

// Runs one opcode over `lanes` work-items and compares each with the reference; `mask` repeats every 32 lanes.
void check(Case const& c, u32 lanes, u32 mask, Random& random) {
  Bench bench(kernel_text(c));
  bench.launch.block = {lanes, 1, 1};
  std::vector<std::vector<u64>> in(4, std::vector<u64>(lanes, 0));
  for (std::size_t i = 1; i < c.operands.size(); ++i)
    for (u64& value : in[i - 1]) value = operand(random, c.operands[i]);
  char const* names[] = {"a", "b", "c", "e"};
  for (int i = 0; i < 4; ++i) bench.buffer(names[i], in[static_cast<std::size_t>(i)]);
  constexpr u64 untouched = 0x1122334455667788;
  u64 const result = bench.buffer("r", std::vector<u64>(lanes, untouched));
  bench.argument(mask);
  Outcome const& outcome = bench.run();
  INFO(c.opcode << " on " << lanes << " lanes, mask " << mask);
  if (outcome.finding) FAIL(outcome.finding->message);
  std::vector<u64> const out = bench.read<u64>(result);
  u32 equal = 0;
  for (u32 lane = 0; lane < lanes; ++lane) {
    u64 const expected =
        mask >> (lane % 32) & 1 ? c.reference(in[0][lane], in[1][lane], in[2][lane], in[3][lane]) : untouched;
    equal += out[lane] == expected;
    if (out[lane] == expected) continue;
    CAPTURE(lane, in[0][lane], in[1][lane], in[2][lane], in[3][lane], out[lane], expected);
    FAIL("lane differs");
  }
  CHECK(equal == lanes);
}

void check_all(std::vector<Case> const& cases) {
  Random random{20260101};
  for (Case const& c : cases) {
    check(c, 256, ~0u, random);
    check(c, 100, ~0u, random);
    check(c, 256, 0x5a17c3f0, random);
  }
}

u64 pred(bool x) {
  return x ? 1 : 0;
}

std::vector<Case> integer_cases() {
  std::vector<Case> all;
  for (int w : {16, 32, 64}) {
    std::string const n = std::to_string(w), l = w == 16 ? "h" : w == 32 ? "w" : "d";
    auto put = [&](std::string opcode, std::string operands, Reference reference) {
      all.push_back({std::move(opcode), std::move(operands), std::move(reference)});
    };
    auto z = [w](u64 x) { return zx(x, w); };
    for (std::string s : {"u", "s"}) {
      bool const sign = s == "s";
      auto v = [w, sign](u64 x) -> s128 { return sign ? s128{sx(x, w)} : s128{static_cast<s128>(zx(x, w))}; };
      put("add." + s + n, l + l + l, [=](u64 a, u64 b, u64, u64) { return z(a + b); });
      put("sub." + s + n, l + l + l, [=](u64 a, u64 b, u64, u64) { return z(a - b); });
      put("mul.lo." + s + n, l + l + l, [=](u64 a, u64 b, u64, u64) { return z(a * b); });
      put("mul.hi." + s + n, l + l + l, [=](u64 a, u64 b, u64, u64) {
        return z(sign ? static_cast<u64>(v(a) * v(b) >> w)
                      : static_cast<u64>(static_cast<u128>(zx(a, w)) * zx(b, w) >> w));
      });
      put("mad.lo." + s + n, l + l + l + l, [=](u64 a, u64 b, u64 c, u64) { return z(a * b + c); });
      put("mad.hi." + s + n, l + l + l + l, [=](u64 a, u64 b, u64 c, u64) {
        return z((sign ? static_cast<u64>(v(a) * v(b) >> w)
                       : static_cast<u64>(static_cast<u128>(zx(a, w)) * zx(b, w) >> w)) +
                 c);
      });
      put("div." + s + n, l + l + l,
          [=](u64 a, u64 b, u64, u64) { return v(b) == 0 ? z(~u64{0}) : z(static_cast<u64>(v(a) / v(b))); });
      put("rem." + s + n, l + l + l,
          [=](u64 a, u64 b, u64, u64) { return v(b) == 0 ? z(a) : z(static_cast<u64>(v(a) % v(b))); });
      put("min." + s + n, l + l + l, [=](u64 a, u64 b, u64, u64) { return v(a) < v(b) ? z(a) : z(b); });
      put("max." + s + n, l + l + l, [=](u64 a, u64 b, u64, u64) { return v(a) > v(b) ? z(a) : z(b); });
      put("sad." + s + n, l + l + l + l,
          [=](u64 a, u64 b, u64 c, u64) { return z(c + static_cast<u64>(v(a) < v(b) ? v(b) - v(a) : v(a) - v(b))); });
      put("shr." + s + n, l + l + "w", [=](u64 a, u64 b, u64, u64) {
        if (b >= static_cast<u64>(w)) return sign && sx(a, w) < 0 ? z(~u64{0}) : u64{0};
        return z(static_cast<u64>(v(a) >> b));
      });
      std::pair<char const*, std::function<bool(s128, s128)>> comparisons[] = {
          {"eq", std::equal_to<>{}},   {"ne", std::not_equal_to<>{}}, {"lt", std::less<>{}},
          {"le", std::less_equal<>{}}, {"gt", std::greater<>{}},      {"ge", std::greater_equal<>{}}};
      for (auto const& [name, compare] : comparisons) {
        auto const holds = compare;
        put("setp." + std::string(name) + "." + s + n, "p" + l + l,
            [=](u64 a, u64 b, u64, u64) { return pred(holds(v(a), v(b))); });
        put("setp." + std::string(name) + ".xor." + s + n, "p" + l + l + "p",
            [=](u64 a, u64 b, u64 c, u64) { return pred(holds(v(a), v(b)) != (c != 0)); });
      }
      if (w < 64) {
        std::string const wide = w == 16 ? "w" : "d";
        put("mul.wide." + s + n, wide + l + l,
            [=](u64 a, u64 b, u64, u64) { return zx(static_cast<u64>(v(a) * v(b)), 2 * w); });
        put("mad.wide." + s + n, wide + l + l + wide,
            [=](u64 a, u64 b, u64 c, u64) { return zx(static_cast<u64>(v(a) * v(b)) + c, 2 * w); });
      }
    }
    put("abs.s" + n, l + l, [=](u64 a, u64, u64, u64) { return z(sx(a, w) < 0 ? 0 - a : a); });
    put("neg.s" + n, l + l, [=](u64 a, u64, u64, u64) { return z(0 - a); });
    put("and.b" + n, l + l + l, [=](u64 a, u64 b, u64, u64) { return a & b; });
    put("or.b" + n, l + l + l, [=](u64 a, u64 b, u64, u64) { return a | b; });
    put("xor.b" + n, l + l + l, [=](u64 a, u64 b, u64, u64) { return a ^ b; });
    put("not.b" + n, l + l, [=](u64 a, u64, u64, u64) { return z(~a); });
    put("cnot.b" + n, l + l, [=](u64 a, u64, u64, u64) { return pred(z(a) == 0); });
    put("shl.b" + n, l + l + "w", [=](u64 a, u64 b, u64, u64) { return b >= static_cast<u64>(w) ? 0 : z(a << b); });
    put("selp.b" + n, l + l + l + "p", [=](u64 a, u64 b, u64 c, u64) { return c ? a : b; });
    put("slct.u" + n + ".s32", l + l + l + "w", [=](u64 a, u64 b, u64 c, u64) { return sx(c, 32) >= 0 ? a : b; });
    put("mov.b" + n, l + l, [=](u64 a, u64, u64, u64) { return a; });
    if (w == 16) continue;
    put("popc.b" + n, "w" + l, [=](u64 a, u64, u64, u64) { return static_cast<u64>(std::popcount(a)); });
    put("clz.b" + n, "w" + l, [=](u64 a, u64, u64, u64) { return static_cast<u64>(std::countl_zero(a) - (64 - w)); });
    put("brev.b" + n, l + l, [=](u64 a, u64, u64, u64) {
      u64 r = 0;
      for (int i = 0; i < w; ++i) r |= (a >> i & 1) << (w - 1 - i);
      return r;
    });
    for (std::string s : {"u", "s"}) {
      auto found = [=](u64 a) -> u64 {
        u64 const x = s == "s" && sx(a, w) < 0 ? z(~a) : z(a);
        return x == 0 ? 0xffffffffu : static_cast<u64>(63 - std::countl_zero(x));
      };
      put("bfind." + s + n, "w" + l, [=](u64 a, u64, u64, u64) { return found(a); });
      put("bfind.shiftamt." + s + n, "w" + l, [=](u64 a, u64, u64, u64) {
        u64 const b = found(a);
        return b == 0xffffffffu ? b : static_cast<u64>(w) - 1 - b;
      });
      // [ptx] bfe, bit by bit as the manual's pseudo code has it.
      put("bfe." + s + n, l + l + "ww", [=](u64 a, u64 b, u64 c, u64) {
        u64 const msb = static_cast<u64>(w) - 1, pos = b & 0xff, len = c & 0xff;
        u64 const sbit = s == "u" || len == 0 ? 0 : a >> std::min(pos + len - 1, msb) & 1;
        u64 d = 0;
        for (u64 i = 0; i <= msb; ++i) d |= (i < len && pos + i <= msb ? a >> (pos + i) & 1 : sbit) << i;
        return d;
      });
    }
    put("bfi.b" + n, l + l + l + "ww", [=](u64 a, u64 b, u64 c, u64 e) {
      u64 const msb = static_cast<u64>(w) - 1, pos = c & 0xff, len = e & 0xff;
      u64 d = b;
      for (u64 i = 0; i < len && pos + i <= msb; ++i) d = (d & ~(u64{1} << (pos + i))) | (a >> i & 1) << (pos + i);
      return d;
    });
  }
  return all;
}

std::vector<Case> more_integer_cases() {
  auto clamp = [](std::int64_t x) {
    return zx(static_cast<u64>(std::min<std::int64_t>(std::max<std::int64_t>(x, INT32_MIN), INT32_MAX)), 32);
  };
  auto funnel = [](u64 a, u64 b, u64 n, bool left) {
    u128 const x = (static_cast<u128>(b) << 32 | a);
    return static_cast<u64>(left ? zx(static_cast<u64>(x << n >> 32), 32) : zx(static_cast<u64>(x >> n), 32));
  };
  auto permute = [](u64 a, u64 b, u64 c) {
    u64 r = 0;
    for (int i = 0; i < 4; ++i) {
      u64 const s = c >> (4 * i) & 15, byte = (b << 32 | a) >> (8 * (s & 7)) & 255;
      r |= (s & 8 ? (byte & 128 ? 255 : 0) : byte) << (8 * i);
    }
    return r;
  };
  return {
      {"add.sat.s32", "www", [=](u64 a, u64 b, u64, u64) { return clamp(sx(a, 32) + sx(b, 32)); }},
      {"sub.sat.s32", "www", [=](u64 a, u64 b, u64, u64) { return clamp(sx(a, 32) - sx(b, 32)); }},
      {"mul24.lo.u32", "www", [](u64 a, u64 b, u64, u64) { return zx((a & 0xffffff) * (b & 0xffffff), 32); }},
      {"mul24.lo.s32", "www", [](u64 a, u64 b, u64, u64) { return zx(static_cast<u64>(sx(a, 24) * sx(b, 24)), 32); }},
      {"mul24.hi.u32", "www", [](u64 a, u64 b, u64, u64) { return zx((a & 0xffffff) * (b & 0xffffff) >> 16, 32); }},
      {"mad24.lo.s32", "wwww",
       [](u64 a, u64 b, u64 c, u64) { return zx(static_cast<u64>(sx(a, 24) * sx(b, 24)) + c, 32); }},
      {"shf.l.wrap.b32", "wwww", [=](u64 a, u64 b, u64 c, u64) { return funnel(a, b, c & 31, true); }},
      {"shf.r.wrap.b32", "wwww", [=](u64 a, u64 b, u64 c, u64) { return funnel(a, b, c & 31, false); }},
      {"shf.l.clamp.b32", "wwww", [=](u64 a, u64 b, u64 c, u64) { return c >= 32 ? a : funnel(a, b, c, true); }},
      {"shf.r.clamp.b32", "wwww", [=](u64 a, u64 b, u64 c, u64) { return c >= 32 ? b : funnel(a, b, c, false); }},
      {"prmt.b32", "wwww", [=](u64 a, u64 b, u64 c, u64) { return permute(a, b, c); }},
      {"lop3.b32", "wwwww",
       [](u64 a, u64 b, u64 c, u64 t) {
         u64 r = 0;
         for (int i = 0; i < 32; ++i) r |= (t >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
         return r;
       }},
      {"dp4a.s32.s32", "wwww",
       [](u64 a, u64 b, u64 c, u64) {
         for (int i = 0; i < 4; ++i) c += static_cast<u64>(sx(a >> 8 * i, 8) * sx(b >> 8 * i, 8));
         return zx(c, 32);
       }},
      {"dp4a.u32.u32", "wwww",
       [](u64 a, u64 b, u64 c, u64) {
         for (int i = 0; i < 4; ++i) c += (a >> 8 * i & 255) * (b >> 8 * i & 255);
         return zx(c, 32);
       }},
      {"and.pred", "ppp", [](u64 a, u64 b, u64, u64) { return a & b; }},
      {"or.pred", "ppp", [](u64 a, u64 b, u64, u64) { return a | b; }},
      {"xor.pred", "ppp", [](u64 a, u64 b, u64, u64) { return a ^ b; }},
      {"not.pred", "pp", [](u64 a, u64, u64, u64) { return a ^ 1; }},
      {"set.lt.u32.s32", "www", [](u64 a, u64 b, u64, u64) { return sx(a, 32) < sx(b, 32) ? u64{0xffffffff} : 0; }},
      {"set.gt.f32.u32", "www", [](u64 a, u64 b, u64, u64) { return a > b ? u64{0x3f800000} : 0; }},
  };
}

// Directed rounding by the host's mode; volatile keeps the operation where it is.
template <class T, class F>
u64 rounded(int mode, T a, T b, T c, F operation) {
  std::fesetround(mode);
  T volatile x = a, y = b, z = c;
  T const volatile r = operation(x, y, z);
  std::fesetround(FE_TONEAREST);
  return bits(static_cast<T>(r));
}

std::vector<Case> float_cases() {
  std::vector<Case> all;
  std::pair<std::string, int> const modes[] = {
      {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
  auto flush = [](float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; };
  for (auto const& [suffix, mode] : modes) {
    int const m = mode;
    std::string const s = "." + suffix;
    all.push_back({"add" + s + ".f32", "fff", [m](u64 a, u64 b, u64, u64) {
                     return rounded(m, f(a), f(b), 0.f, [](float x, float y, float) { return x + y; });
                   }});
    all.push_back({"sub" + s + ".f32", "fff", [m](u64 a, u64 b, u64, u64) {
                     return rounded(m, f(a), f(b), 0.f, [](float x, float y, float) { return x - y; });
                   }});
    all.push_back({"mul" + s + ".f32", "fff", [m](u64 a, u64 b, u64, u64) {
                     return rounded(m, f(a), f(b), 0.f, [](float x, float y, float) { return x * y; });
                   }});
    all.push_back({"fma" + s + ".f32", "ffff", [m](u64 a, u64 b, u64 c, u64) {
                     return rounded(m, f(a), f(b), f(c), [](float x, float y, float z) { return std::fma(x, y, z); });
                   }});
    all.push_back({"div" + s + ".f32", "fff", [m](u64 a, u64 b, u64, u64) {
                     return rounded(m, f(a), f(b), 0.f, [](float x, float y, float) { return x / y; });
                   }});
    all.push_back({"rcp" + s + ".f32", "ff", [m](u64 a, u64, u64, u64) {
                     return rounded(m, f(a), 0.f, 0.f, [](float x, float, float) { return 1.0f / x; });
                   }});
    all.push_back({"sqrt" + s + ".f32", "ff", [m](u64 a, u64, u64, u64) {
                     return rounded(m, f(a), 0.f, 0.f, [](float x, float, float) { return std::sqrt(x); });
                   }});
    all.push_back({"add" + s + ".f64", "ggg", [m](u64 a, u64 b, u64, u64) {
                     return rounded(m, g(a), g(b), 0., [](double x, double y, double) { return x + y; });
                   }});
    all.push_back({"mul" + s + ".f64", "ggg", [m](u64 a, u64 b, u64, u64) {
                     return rounded(m, g(a), g(b), 0., [](double x, double y, double) { return x * y; });
                   }});
    all.push_back({"fma" + s + ".f64", "gggg", [m](u64 a, u64 b, u64 c, u64) {
                     return rounded(m, g(a), g(b), g(c),
                                    [](double x, double y, double z) { return std::fma(x, y, z); });
                   }});
    all.push_back({"div" + s + ".f64", "ggg", [m](u64 a, u64 b, u64, u64) {
                     return rounded(m, g(a), g(b), 0., [](double x, double y, double) { return x / y; });
                   }});
    all.push_back({"sqrt" + s + ".f64", "gg", [m](u64 a, u64, u64, u64) {
                     return rounded(m, g(a), 0., 0., [](double x, double, double) { return std::sqrt(x); });
                   }});
    all.push_back({"cvt" + s + ".f32.f64", "fg", [m](u64 a, u64, u64, u64) {
                     std::fesetround(m);
                     double volatile x = g(a);
                     float const volatile r = static_cast<float>(x);
                     std::fesetround(FE_TONEAREST);
                     return bits(static_cast<float>(r));
                   }});
    all.push_back({"cvt" + s + ".f32.s32", "fw", [m](u64 a, u64, u64, u64) {
                     std::fesetround(m);
                     std::int32_t volatile x = static_cast<std::int32_t>(sx(a, 32));
                     float const volatile r = static_cast<float>(x);
                     std::fesetround(FE_TONEAREST);
                     return bits(static_cast<float>(r));
                   }});
    all.push_back({"cvt" + s + ".f64.u64", "gd", [m](u64 a, u64, u64, u64) {
                     // Exact through the two halves; one addition rounds. A zero must not take the sign of the mode.
                     std::fesetround(m);
                     double volatile high = static_cast<double>(static_cast<u32>(a >> 32)) * 4294967296.0,
                                     low = static_cast<u32>(a);
                     double const volatile r = a ? high + low : 0.0;
                     std::fesetround(FE_TONEAREST);
                     return bits(static_cast<double>(r));
                   }});
  }
  auto put = [&](std::string opcode, std::string operands, Reference reference) {
    all.push_back({std::move(opcode), std::move(operands), std::move(reference)});
  };
  put("add.f32", "fff", [](u64 a, u64 b, u64, u64) { return bits(f(a) + f(b)); });
  put("add.ftz.f32", "fff", [=](u64 a, u64 b, u64, u64) { return bits(flush(flush(f(a)) + flush(f(b)))); });
  put("mul.ftz.f32", "fff", [=](u64 a, u64 b, u64, u64) { return bits(flush(flush(f(a)) * flush(f(b)))); });
  put("add.sat.f32", "fff", [](u64 a, u64 b, u64, u64) {
    float const r = f(a) + f(b);
    return bits(std::isnan(r) || r <= 0 ? 0.0f : std::min(r, 1.0f));
  });
  put("fma.rn.sat.f32", "ffff", [](u64 a, u64 b, u64 c, u64) {
    float const r = std::fma(f(a), f(b), f(c));
    return bits(std::isnan(r) || r <= 0 ? 0.0f : std::min(r, 1.0f));
  });
  put("div.approx.f32", "fff", [](u64 a, u64 b, u64, u64) { return bits(f(a) / f(b)); });
  put("div.full.f32", "fff", [](u64 a, u64 b, u64, u64) { return bits(f(a) / f(b)); });
  put("rsqrt.approx.f32", "ff",
      [](u64 a, u64, u64, u64) { return bits(static_cast<float>(1.0 / std::sqrt(static_cast<double>(f(a))))); });
  put("sin.approx.f32", "ff",
      [](u64 a, u64, u64, u64) { return bits(static_cast<float>(std::sin(static_cast<double>(f(a))))); });
  put("cos.approx.f32", "ff",
      [](u64 a, u64, u64, u64) { return bits(static_cast<float>(std::cos(static_cast<double>(f(a))))); });
  put("ex2.approx.f32", "ff",
      [](u64 a, u64, u64, u64) { return bits(static_cast<float>(std::exp2(static_cast<double>(f(a))))); });
  put("lg2.approx.f32", "ff",
      [](u64 a, u64, u64, u64) { return bits(static_cast<float>(std::log2(static_cast<double>(f(a))))); });
  put("tanh.approx.f32", "ff",
      [](u64 a, u64, u64, u64) { return bits(static_cast<float>(std::tanh(static_cast<double>(f(a))))); });
  put("abs.f32", "ff", [](u64 a, u64, u64, u64) { return a & 0x7fffffff; });
  put("neg.f32", "ff", [](u64 a, u64, u64, u64) { return a ^ 0x80000000; });
  put("abs.f64", "gg", [](u64 a, u64, u64, u64) { return a & 0x7fffffffffffffff; });
  put("neg.f64", "gg", [](u64 a, u64, u64, u64) { return a ^ 0x8000000000000000; });
  put("copysign.f32", "fff", [](u64 a, u64 b, u64, u64) { return (a & 0x80000000) | (b & 0x7fffffff); });
  auto smaller = [](auto x, auto y) {
    return std::isnan(x) ? y : std::isnan(y) ? x : x == y ? (std::signbit(x) ? x : y) : std::min(x, y);
  };
  auto larger = [](auto x, auto y) {
    return std::isnan(x) ? y : std::isnan(y) ? x : x == y ? (std::signbit(x) ? y : x) : std::max(x, y);
  };
  put("min.f32", "fff", [=](u64 a, u64 b, u64, u64) { return bits(smaller(f(a), f(b))); });
  put("max.f32", "fff", [=](u64 a, u64 b, u64, u64) { return bits(larger(f(a), f(b))); });
  put("min.f64", "ggg", [=](u64 a, u64 b, u64, u64) { return bits(smaller(g(a), g(b))); });
  put("max.f64", "ggg", [=](u64 a, u64 b, u64, u64) { return bits(larger(g(a), g(b))); });
  put("min.NaN.f32", "fff", [=](u64 a, u64 b, u64, u64) {
    return std::isnan(f(a)) || std::isnan(f(b)) ? u64{0x7fffffff} : bits(smaller(f(a), f(b)));
  });
  put("testp.finite.f32", "pf", [](u64 a, u64, u64, u64) { return pred(std::isfinite(f(a))); });
  put("testp.infinite.f32", "pf", [](u64 a, u64, u64, u64) { return pred(std::isinf(f(a))); });
  put("testp.notanumber.f64", "pg", [](u64 a, u64, u64, u64) { return pred(std::isnan(g(a))); });
  put("testp.normal.f32", "pf", [](u64 a, u64, u64, u64) { return pred(std::isnormal(f(a)) || f(a) == 0); });
  put("testp.subnormal.f64", "pg", [](u64 a, u64, u64, u64) { return pred(std::fpclassify(g(a)) == FP_SUBNORMAL); });
  for (bool is_double : {false, true}) {
    std::string const t = is_double ? ".f64" : ".f32", l = is_double ? "g" : "f";
    auto v = [is_double](u64 x) { return is_double ? g(x) : static_cast<double>(f(x)); };
    auto compare = [&](std::string const& name, bool unordered, std::function<bool(double, double)> holds) {
      put("setp." + name + t, "p" + l + l, [=](u64 a, u64 b, u64, u64) {
        bool const nan = std::isnan(v(a)) || std::isnan(v(b));
        return pred(nan ? unordered : holds(v(a), v(b)));
      });
    };
    std::pair<std::string, std::function<bool(double, double)>> table[] = {
        {"eq", std::equal_to<>{}},   {"ne", std::not_equal_to<>{}}, {"lt", std::less<>{}},
        {"le", std::less_equal<>{}}, {"gt", std::greater<>{}},      {"ge", std::greater_equal<>{}}};
    for (auto const& [name, holds] : table) {
      compare(name, false, holds);
      compare(name + "u", true, holds);
    }
    compare("num", false, [](double, double) { return true; });
    compare("nan", true, [](double, double) { return false; });
  }
  return all;
}

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
  // Halves by their definition, searched among all of them.
  auto half_value = [](u64 h) -> double {
    int const exponent = static_cast<int>(h >> 10 & 31), fraction = static_cast<int>(h & 1023);
    double const magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                             : exponent == 0 ? std::ldexp(fraction, -24)
                                             : std::ldexp(1024 + fraction, exponent - 25);
    return h & 0x8000 ? -magnitude : magnitude;
  };
  auto nearest_half = [=](double x) -> u64 {
    if (std::isnan(x)) return 0x7fff;
    u64 const sign = std::signbit(x) ? 0x8000 : 0;
    double const m = std::fabs(x);
    if (m >= 65520) return sign | 0x7c00;
    u64 low = 0, high = 0x7bff;
    while (low < high) {
      u64 const middle = (low + high + 1) / 2;
      if (half_value(middle) <= m)
        low = middle;
      else
        high = middle - 1;
    }
    if (low == 0x7bff) return sign | low;
    double const below = m - half_value(low), above = half_value(low + 1) - m;
    return sign | (below < above || (below == above && low % 2 == 0) ? low : low + 1);
  };
  all.push_back({"cvt.rn.f16.f32", "hf", [=](u64 a, u64, u64, u64) { return nearest_half(f(a)); }});
  all.push_back({"cvt.rn.f16.f64", "hg", [=](u64 a, u64, u64, u64) { return nearest_half(g(a)); }});
  all.push_back({"cvt.f32.f16", "fh", [=](u64 a, u64, u64, u64) { return bits(static_cast<float>(half_value(a))); }});
  all.push_back(
      {"add.f16", "hhh", [=](u64 a, u64 b, u64, u64) { return nearest_half(half_value(a) + half_value(b)); }});
  all.push_back(
      {"mul.f16", "hhh", [=](u64 a, u64 b, u64, u64) { return nearest_half(half_value(a) * half_value(b)); }});
  all.push_back({"fma.rn.f16", "hhhh", [=](u64 a, u64 b, u64 c, u64) {
                   // 22 bits of product and 11 of addend, exponents within 80: long double holds the sum but for far
                   // apart ones.
                   long double const exact = static_cast<long double>(half_value(a)) * half_value(b) +
                                             static_cast<long double>(half_value(c));
                   double near = static_cast<double>(exact);
                   if (static_cast<long double>(near) != exact && std::isfinite(near)) {
                     double const toward =
                         std::nextafter(near, static_cast<long double>(near) > exact ? -INFINITY : INFINITY);
                     if (nearest_half(near) != nearest_half(toward))
                       near = std::fabs(nearest_half(near) & 1 ? toward : near) >= 0
                                  ? static_cast<double>((static_cast<long double>(near) + toward) / 2)
                                  : near;
                   }
                   return nearest_half(near);
                 }});
  all.push_back({"setp.lt.f16", "phh", [=](u64 a, u64 b, u64, u64) { return pred(half_value(a) < half_value(b)); }});
  all.push_back({"cvt.f64.f32", "gf", [](u64 a, u64, u64, u64) { return bits(static_cast<double>(f(a))); }});
  all.push_back({"cvt.rni.f32.f32", "ff", [](u64 a, u64, u64, u64) { return bits(std::nearbyint(f(a))); }});
  all.push_back({"cvt.rpi.f64.f64", "gg", [](u64 a, u64, u64, u64) { return bits(std::ceil(g(a))); }});
  all.push_back({"cvt.sat.f32.f32", "ff", [](u64 a, u64, u64, u64) {
                   float const x = f(a);
                   return bits(std::isnan(x) || x <= 0 ? 0.0f : std::min(x, 1.0f));
                 }});
  return all;
}

}  // namespace

TEST_CASE("integer opcodes equal a computation in 128 bits") {
  check_all(integer_cases());
}
TEST_CASE("bit opcodes equal their definition bit by bit") {
  check_all(more_integer_cases());
}
TEST_CASE("floating-point opcodes equal the host's, in every rounding mode") {
  check_all(float_cases());
}
TEST_CASE("conversions round, clamp and extend as PTX says") {
  check_all(convert_cases());
}

}  // namespace kernelcast::emu::test
