// Integer arithmetic, shifts, logic and bit opcodes against computations in 128 bits and definitions bit by bit.
#include "catch.hpp"
#include "opcode_cases.hpp"

namespace kernelcast::emu::test {
namespace {

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
          [=](u64 a, u64 b, u64, u64) { return z(v(b) == 0 ? ~u64{0} : static_cast<u64>(v(a) % v(b))); });
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

std::int64_t clamped(s128 x, s128 low, s128 high) {
  return static_cast<std::int64_t>(x < low ? low : x > high ? high : x);
}

std::vector<Case> rare_integer_cases() {
  std::vector<Case> all;
  auto put = [&](std::string opcode, std::string operands, Reference reference, std::string form = {}) {
    all.push_back({std::move(opcode), std::move(operands), std::move(reference), std::move(form)});
  };
  auto value = [](u64 x, int width, bool sign) {
    return sign ? sx(x, width) : static_cast<std::int64_t>(zx(x, width));
  };
  for (bool a_sign : {false, true})
    for (bool b_sign : {false, true})
      for (bool high : {false, true})
        put(std::string("dp2a.") + (high ? "hi" : "lo") + (a_sign ? ".s32" : ".u32") + (b_sign ? ".s32" : ".u32"),
            "wwww", [=](u64 a, u64 b, u64 c, u64) {
              for (int i = 0; i < 2; ++i)
                c += static_cast<u64>(value(a >> 16 * i, 16, a_sign) * value(b >> (8 * i + 16 * high), 8, b_sign));
              return zx(c, 32);
            });
  put("mad24.hi.u32", "wwww",
      [](u64 a, u64 b, u64 c, u64) { return zx(((a & 0xffffff) * (b & 0xffffff) >> 16) + c, 32); });
  put("mad24.hi.s32", "wwww",
      [](u64 a, u64 b, u64 c, u64) { return zx(static_cast<u64>(sx(a, 24) * sx(b, 24) >> 16) + c, 32); });
  put("mad24.hi.sat.s32", "wwww", [](u64 a, u64 b, u64 c, u64) {
    return zx(static_cast<u64>(clamped((sx(a, 24) * sx(b, 24) >> 16) + sx(c, 32), INT32_MIN, INT32_MAX)), 32);
  });
  put("mad.hi.sat.s32", "wwww", [](u64 a, u64 b, u64 c, u64) {
    return zx(static_cast<u64>(clamped((s128{sx(a, 32)} * sx(b, 32) >> 32) + sx(c, 32), INT32_MIN, INT32_MAX)), 32);
  });
  for (bool clamp : {false, true}) {
    std::string const mode = clamp ? ".clamp" : ".wrap";
    put("bmsk" + mode + ".b32", "www", [=](u64 a, u64 b, u64, u64) {
      if (!clamp) a &= 31, b &= 31;
      u64 mask = 0;
      for (u64 i = 0; i < 32; ++i) mask |= u64{i >= a && i - a < b} << i;
      return mask;
    });
    for (bool sign : {false, true})
      put("szext" + mode + (sign ? ".s32" : ".u32"), "www", [=](u64 a, u64 b, u64, u64) {
        u64 const n = clamp ? b : b & 31;
        if (n == 0) return u64{0};
        return n >= 32 ? a : sign ? zx(static_cast<u64>(sx(a, static_cast<int>(n))), 32) : zx(a, static_cast<int>(n));
      });
  }
  // The n-th set bit, counted from `base` in the direction that the sign of n says.
  put(
      "fns.b32", "wwww",
      [](u64 mask, u64 base, u64 n, u64) {
        std::vector<u64> set;
        base &= 31;
        std::int64_t const offset = sx(n, 32) % 5;
        if (offset == 0) return mask >> base & 1 ? base : u64{0xffffffff};
        for (int i = static_cast<int>(base); i >= 0 && i < 32; i += offset > 0 ? 1 : -1)
          if (mask >> i & 1) set.push_back(static_cast<u64>(i));
        u64 const k = static_cast<u64>(std::abs(offset)) - 1;
        return k < set.size() ? set[k] : u64{0xffffffff};
      },
      "{0}, {1}, {2}, {3}; and.b32 {2}, {2}, 31; rem.s32 {3}, {3}, 5; fns.b32 {0}, {1}, {2}, {3}");
  for (bool sign : {false, true}) {
    std::string const t = sign ? ".s16x2" : ".u16x2";
    auto pairs = [=](std::function<std::int64_t(std::int64_t, std::int64_t)> o) {
      return [=](u64 a, u64 b, u64, u64) {
        return zx(static_cast<u64>(o(value(a >> 16, 16, sign), value(b >> 16, 16, sign))), 16) << 16 |
               zx(static_cast<u64>(o(value(a, 16, sign), value(b, 16, sign))), 16);
      };
    };
    put("add" + t, "www", pairs([](auto a, auto b) { return a + b; }));
    put("min" + t, "www", pairs([](auto a, auto b) { return std::min(a, b); }));
    put("max" + t, "www", pairs([](auto a, auto b) { return std::max(a, b); }));
    if (!sign) continue;
    put("min.relu" + t, "www", pairs([](auto a, auto b) { return std::max<std::int64_t>(std::min(a, b), 0); }));
    put("max.relu" + t, "www", pairs([](auto a, auto b) { return std::max<std::int64_t>(std::max(a, b), 0); }));
  }
  put("min.relu.s32", "www", [](u64 a, u64 b, u64, u64) {
    return static_cast<u64>(std::max<std::int64_t>(std::min(sx(a, 32), sx(b, 32)), 0));
  });
  put("max.relu.s32", "www", [](u64 a, u64 b, u64, u64) {
    return static_cast<u64>(std::max<std::int64_t>(std::max(sx(a, 32), sx(b, 32)), 0));
  });
  std::pair<std::string, u64> const modes[] = {{"f4e", 0x6543543243213210}, {"b4e", 0x0123701267015670},
                                               {"rc8", 0x3333222211110000}, {"ecl", 0x3333322232113210},
                                               {"ecr", 0x3210221011100000}, {"rc16", 0x3232101032321010}};
  for (auto const& [mode, selectors] : modes) {
    u64 const chosen = selectors;
    put("prmt.b32." + mode, "wwww", [chosen](u64 a, u64 b, u64 c, u64) {
      u64 r = 0;
      for (int i = 0; i < 4; ++i)
        r |= ((b << 32 | a) >> 8 * (chosen >> (16 * (c & 3) + 4 * static_cast<u64>(i)) & 7) & 255) << 8 * i;
      return r;
    });
  }
  auto logic = [](u64 a, u64 b, u64 c, u64 table) {
    u64 r = 0;
    for (int i = 0; i < 32; ++i) r |= (table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
    return r;
  };
  put(
      "lop3.or.b32", "Vwwwp",
      [=](u64 a, u64 b, u64 c, u64 q) {
        u64 const d = logic(a, b, c, 0x1a);
        return d | u64{d != 0 || q} << 32;
      },
      "{0}, {1}, {2}, {3}, 0x1a, {4}");
  put(
      "lop3.and.b32", "Vwwwp",
      [=](u64 a, u64 b, u64 c, u64 q) {
        u64 const d = logic(a, b, c, 0x80);
        return d | u64{d != 0 && !q} << 32;
      },
      "{0}, {1}, {2}, {3}, 0x80, !{4}");
  std::pair<std::string, int> const fields[] = {{"16", 16}, {"8", 8}, {"4", 4}, {"2", 2}};
  for (auto const& [name, width] : fields)
    for (bool sign : {false, true}) {
      int const w = width;
      auto pack = [=](u64 x) {
        s128 const one = 1;
        return zx(
            static_cast<u64>(clamped(sx(x, 32), sign ? -(one << (w - 1)) : s128{0}, (one << (sign ? w - 1 : w)) - 1)),
            w);
      };
      std::string const opcode = "cvt.pack.sat." + std::string(sign ? "s" : "u") + name + ".s32";
      if (w == 16)
        put(opcode, "www", [=](u64 a, u64 b, u64, u64) { return pack(a) << 16 | pack(b); });
      else
        put(opcode + ".b32", "wwww",
            [=](u64 a, u64 b, u64 c, u64) { return zx(c << 2 * w | pack(a) << w | pack(b), 32); });
    }
  return all;
}

// Sums and products of twice the width, made of carry chains.
std::vector<Case> chain_cases() {
  std::vector<Case> all;
  for (int width : {32, 64}) {
    std::string const t = ".u" + std::to_string(width), l(1, width == 32 ? 'w' : 'd');
    auto z = [=](u64 x) { return zx(x, width); };
    auto wide = [=](u64 low, u64 high) { return static_cast<u128>(z(high)) << width | z(low); };
    // (c:a) + (e:b), of which the upper word.
    all.push_back({"add.cc" + t, l + l + l + l + l,
                   [=](u64 a, u64 b, u64 c, u64 e) { return z(static_cast<u64>((wide(a, c) + wide(b, e)) >> width)); },
                   "{0}, {1}, {2}; addc" + t + " {0}, {3}, {4}"});
    all.push_back({"sub.cc" + t, l + l + l + l + l,
                   [=](u64 a, u64 b, u64 c, u64 e) { return z(static_cast<u64>((wide(a, c) - wide(b, e)) >> width)); },
                   "{0}, {1}, {2}; subc" + t + " {0}, {3}, {4}"});
    // The carry out of a sum that had a carry in.
    all.push_back({"add.cc" + t, l + l + l + l + l,
                   [=](u64 a, u64 b, u64 c, u64 e) -> u64 {
                     u128 const low = static_cast<u128>(z(a)) + z(b);
                     return static_cast<u64>((static_cast<u128>(z(c)) + z(e) + (low >> width)) >> width);
                   },
                   "{0}, {1}, {2}; addc.cc" + t + " {0}, {3}, {4}; addc" + t + " {0}, 0, 0"});
    all.push_back({"sub.cc" + t, l + l + l + l + l,
                   [=](u64 a, u64 b, u64 c, u64 e) -> u64 {
                     u64 const borrow = z(a) < z(b);
                     bool const more = z(c) < z(e) || (z(c) == z(e) && borrow);
                     return z(more ? ~u64{0} : 0);
                   },
                   "{0}, {1}, {2}; subc.cc" + t + " {0}, {3}, {4}; subc" + t + " {0}, 0, 0"});
    // a * b + (e:c), of which the upper word.
    all.push_back({"mad.lo.cc" + t, l + l + l + l + l,
                   [=](u64 a, u64 b, u64 c, u64 e) {
                     return z(static_cast<u64>((static_cast<u128>(z(a)) * z(b) + wide(c, e)) >> width));
                   },
                   "{0}, {1}, {2}, {3}; madc.hi" + t + " {0}, {1}, {2}, {4}"});
    all.push_back({"mad.hi.cc" + t, l + l + l + l + l,
                   [=](u64 a, u64 b, u64 c, u64 e) {
                     u128 const high = (static_cast<u128>(z(a)) * z(b) >> width) + z(c);
                     return z(a * b + e + static_cast<u64>(high >> width));
                   },
                   "{0}, {1}, {2}, {3}; madc.lo" + t + " {0}, {1}, {2}, {4}"});
  }
  return all;
}

}  // namespace

TEST_CASE("integer opcodes equal a computation in 128 bits") {
  check_all(integer_cases());
}
TEST_CASE("bit opcodes equal their definition bit by bit") {
  check_all(more_integer_cases());
}
TEST_CASE("rare integer opcodes equal their definition") {
  check_all(rare_integer_cases());
}
TEST_CASE("carry chains make sums and products of twice the width") {
  check_all(chain_cases());
}

// A constant that is not 0 holds in every lane.
TEST_CASE("predicates of constants") {
  Bench bench(
      ".visible .entry k(.param .u64 r) { .reg .pred %p<8>; .reg .b32 %w<4>; .reg .b64 %x<3>;\n"
      "mov.u32 %w0, %tid.x; setp.lt.u32 %p0, %w0, 20; mov.pred %p1, 1; mov.pred %p2, 0; mov.pred %p3, 5;\n"
      "and.pred %p4, %p0, 1; or.pred %p5, %p0, 1; xor.pred %p6, %p0, 1; mov.u32 %w1, 0;\n"
      "@%p1 add.u32 %w1, %w1, 1; @%p2 add.u32 %w1, %w1, 2; @%p3 add.u32 %w1, %w1, 4; @%p4 add.u32 %w1, %w1, 8;\n"
      "@%p5 add.u32 %w1, %w1, 16; @%p6 add.u32 %w1, %w1, 32; mul.wide.u32 %x0, %w0, 4; ld.param.u64 %x1, [r];\n"
      "add.s64 %x1, %x1, %x0; st.global.b32 [%x1], %w1; ret; }\n");
  bench.launch.block = {64, 1, 1};
  u64 const r = bench.buffer("r", std::vector<u32>(64, 77));
  if (Outcome const& outcome = bench.run(); outcome.finding) FAIL(outcome.finding->message);
  std::vector<u32> wanted(64);
  for (u32 lane = 0; lane < 64; ++lane) wanted[lane] = 1 + 4 + 16 + (lane < 20 ? 8 : 32);
  CHECK(bench.read<u32>(r) == wanted);
}

}  // namespace kernelcast::emu::test
