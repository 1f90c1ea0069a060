// Arithmetic in 16 bits and in mixed precision against exact sums and products rounded once.
#include "catch.hpp"
#include "exact.hpp"
#include "opcode_cases.hpp"

namespace kernelcast::emu::test {
namespace {

struct Format {
  std::string name;
  Shape shape;
  char letter, pair;
};
Format const f16{"f16", f16_shape, 'k', 'x'}, bf16{"bf16", bf16_shape, 'b', 'y'};

using Operation = std::function<u64(u64, u64, u64)>;

bool is_nan(u64 x, Shape s) {
  return parts_of(x, s.e, s.m).nan;
}
u64 flushed(u64 x, Shape s) {
  u64 const exponent = ((u64{1} << s.e) - 1) << s.m, sign = u64{1} << (s.e + s.m);
  return x & exponent ? x : x & sign;
}
// [0, 1], NaN to 0.
u64 saturated(u64 x, Shape s) {
  Parts const p = parts_of(x, s.e, s.m);
  if (p.nan || p.negative) return 0;
  return std::min(x, one(s));
}
u64 rectified(u64 x, Shape s) {
  if (is_nan(x, s)) return (u64{1} << (s.e + s.m)) - 1;
  return x >> (s.e + s.m) & 1 ? 0 : x;
}

// The scalar and the packed form of an operation.
void put(std::vector<Case>& all, std::string const& opcode, Format const& t, std::size_t operands, Operation o) {
  all.push_back({opcode + "." + t.name, std::string(operands + 1, t.letter),
                 [o](u64 a, u64 b, u64 c, u64) { return o(a, b, c); }});
  all.push_back({opcode + "." + t.name + "x2", std::string(operands + 1, t.pair), [o](u64 a, u64 b, u64 c, u64) {
                   return o(a >> 16, b >> 16, c >> 16) << 16 | o(a & 0xffff, b & 0xffff, c & 0xffff);
                 }});
}

std::vector<Case> basic_cases() {
  std::vector<Case> all;
  for (Format const& t : {f16, bf16}) {
    Shape const s = t.shape;
    constexpr Toward near = Toward::nearest_even;
    std::pair<std::string, Operation> const basic[] = {
        {"add", [s](u64 a, u64 b, u64) { return added(a, b, s, near); }},
        {"sub",
         [s](u64 a, u64 b, u64) { return is_nan(b, s) ? added(a, b, s, near) : added(a, negated(b, s), s, near); }},
        {"mul", [s](u64 a, u64 b, u64) { return multiplied(a, b, s, near); }}};
    Operation const fuse = [s](u64 a, u64 b, u64 c) { return fused(a, b, c, s, s, s, near); };
    auto flush = [s](Operation o) {
      return Operation([=](u64 a, u64 b, u64 c) { return flushed(o(flushed(a, s), flushed(b, s), flushed(c, s)), s); });
    };
    auto saturate = [s](Operation o) {
      return Operation([=](u64 a, u64 b, u64 c) { return saturated(o(a, b, c), s); });
    };
    auto rectify = [s](Operation o) {
      return Operation([=](u64 a, u64 b, u64 c) { return rectified(o(a, b, c), s); });
    };
    auto outside = [](Operation o) {
      return Operation([=](u64 a, u64 b, u64 c) { return a == 0x7ff7 || b == 0x7ff7 ? u64{0} : o(a, b, c); });
    };
    for (auto const& [name, o] : basic) {
      put(all, name, t, 2, o);
      put(all, name + ".rn", t, 2, o);
      if (t.name == "bf16") continue;
      put(all, name + ".ftz", t, 2, flush(o));
      put(all, name + ".sat", t, 2, saturate(o));
      put(all, name + ".rn.ftz.sat", t, 2, saturate(flush(o)));
    }
    put(all, "fma.rn", t, 3, fuse);
    put(all, "fma.rn.relu", t, 3, rectify(fuse));
    put(all, "fma.rn.oob", t, 3, outside(fuse));
    put(all, "fma.rn.oob.relu", t, 3, outside(rectify(fuse)));
    if (t.name == "f16") {
      put(all, "fma.rn.ftz", t, 3, flush(fuse));
      put(all, "fma.rn.sat", t, 3, saturate(fuse));
      put(all, "fma.rn.ftz.sat", t, 3, saturate(flush(fuse)));
      put(all, "fma.rn.ftz.relu", t, 3, rectify(flush(fuse)));
    }
    u64 const sign = u64{1} << (s.e + s.m);
    // NaNs as an H100 makes them.
    u64 const infinite = ((u64{1} << s.e) - 1) << s.m;
    auto quiet = [=](u64 x) { return (x & ~sign) > infinite ? u64{0x7fff} : x; };
    put(all, "neg", t, 1, [=](u64 a, u64, u64) { return quiet(a ^ sign); });
    put(all, "abs", t, 1, [=](u64 a, u64, u64) { return t.name == "f16" ? a & ~sign : quiet(a & ~sign); });
    if (t.name == "f16") put(all, "neg.ftz", t, 1, [=](u64 a, u64, u64) { return quiet(flushed(a, s) ^ sign); });
    if (t.name == "f16") put(all, "abs.ftz", t, 1, [=](u64 a, u64, u64) { return quiet(flushed(a, s) & ~sign); });
  }
  return all;
}

// As integers that are ordered as the values are, -0 below +0.
std::int64_t rank(u64 x, Shape s) {
  u64 const sign = u64{1} << (s.e + s.m);
  return x & sign ? -static_cast<std::int64_t>(x & (sign - 1)) - 1 : static_cast<std::int64_t>(x);
}
u64 extreme(u64 a, u64 b, Shape s, bool maximum, bool nan_wins, bool xorsign) {
  u64 const sign = u64{1} << (s.e + s.m), nan = sign - 1, result_sign = xorsign ? (a ^ b) & sign : 0;
  if (xorsign) a &= ~sign, b &= ~sign;
  bool const a_nan = is_nan(a, s), b_nan = is_nan(b, s);
  if ((a_nan && b_nan) || (nan_wins && (a_nan || b_nan))) return nan;
  if (a_nan || b_nan) return (a_nan ? b : a) | result_sign;
  return ((rank(a, s) < rank(b, s)) != maximum ? a : b) | result_sign;
}

std::vector<Case> extreme_cases() {
  std::vector<Case> all;
  for (bool maximum : {false, true})
    for (bool nan_wins : {false, true})
      for (bool xorsign : {false, true})
        for (bool ftz : {false, true}) {
          std::string const name = std::string(maximum ? "max" : "min") + (ftz ? ".ftz" : "") +
                                   (nan_wins ? ".NaN" : "") + (xorsign ? ".xorsign.abs" : "");
          for (Format const& t : {f16, bf16}) {
            Shape const s = t.shape;
            if (ftz && t.name == "bf16") continue;
            put(all, name, t, 2, [=](u64 a, u64 b, u64) {
              return extreme(ftz ? flushed(a, s) : a, ftz ? flushed(b, s) : b, s, maximum, nan_wins, xorsign);
            });
          }
          Shape const s = f32_shape;
          auto of_two = [=](u64 a, u64 b, bool x) {
            return extreme(ftz ? flushed(a, s) : a, ftz ? flushed(b, s) : b, s, maximum, nan_wins, x);
          };
          all.push_back({name + ".f32", "fff", [=](u64 a, u64 b, u64, u64) { return of_two(a, b, xorsign); }});
          std::string const three = std::string(maximum ? "max" : "min") + (ftz ? ".ftz" : "") +
                                    (nan_wins ? ".NaN" : "") + (xorsign ? ".abs" : "") + ".f32";
          all.push_back({three, "ffff", [=](u64 a, u64 b, u64 c, u64) {
                           u64 const keep = xorsign ? 0x7fffffff : 0xffffffff;
                           return of_two(of_two(a & keep, b & keep, false), c & keep, false);
                         }});
        }
  return all;
}

std::vector<Case> mixed_cases() {
  std::vector<Case> all;
  std::pair<std::string, Toward> const modes[] = {{"", Toward::nearest_even},
                                                  {".rn", Toward::nearest_even},
                                                  {".rz", Toward::zero},
                                                  {".rm", Toward::down},
                                                  {".rp", Toward::up}};
  Shape const s = f32_shape;
  for (auto const& [suffix, mode] : modes) {
    Toward const m = mode;
    for (Format const& t : {f16, bf16}) {
      Shape const h = t.shape;
      for (bool sat : {false, true}) {
        auto end = [=](u64 x) { return sat ? saturated(x, s) : x; };
        std::string const tail = suffix + (sat ? ".sat" : "") + ".f32." + t.name;
        all.push_back({"add" + tail, std::string{'f', t.letter, 'f'},
                       [=](u64 a, u64 b, u64, u64) { return end(fused(a, one(h), b, h, s, s, m)); }});
        all.push_back({"sub" + tail, std::string{'f', t.letter, 'f'}, [=](u64 a, u64 b, u64, u64) {
                         return end(fused(a, one(h), is_nan(b, s) ? b : negated(b, s), h, s, s, m));
                       }});
        if (!suffix.empty())
          all.push_back({"fma" + tail, std::string{'f', t.letter, t.letter, 'f'},
                         [=](u64 a, u64 b, u64 c, u64) { return end(fused(a, b, c, h, s, s, m)); }});
      }
    }
    for (bool ftz : {false, true}) {
      auto twice = [=](auto o) {
        auto part = [=](u64 a, u64 b, u64 c) {
          a &= 0xffffffff, b &= 0xffffffff, c &= 0xffffffff;
          return ftz ? flushed(o(flushed(a, s), flushed(b, s), flushed(c, s)), s) : o(a, b, c);
        };
        return [=](u64 a, u64 b, u64 c, u64) { return part(a >> 32, b >> 32, c >> 32) << 32 | part(a, b, c); };
      };
      std::string const tail = suffix + (ftz ? ".ftz" : "") + ".f32x2";
      all.push_back({"add" + tail, "zzz", twice([=](u64 a, u64 b, u64) { return added(a, b, s, m); })});
      all.push_back({"sub" + tail, "zzz",
                     twice([=](u64 a, u64 b, u64) { return added(a, is_nan(b, s) ? b : negated(b, s), s, m); })});
      all.push_back({"mul" + tail, "zzz", twice([=](u64 a, u64 b, u64) { return multiplied(a, b, s, m); })});
      if (!suffix.empty())
        all.push_back({"fma" + tail, "zzzz", twice([=](u64 a, u64 b, u64 c) { return fused(a, b, c, s, s, s, m); })});
    }
  }
  return all;
}

// Relative error of at most 2^-`accuracy` ([ptx] "ex2", "tanh"), one ulp of subnormals; run apart, for there is no one
// right result. Returns the worst error in units of the bound.
template <class Value>
void check_approximate(std::string const& opcode, Format const& t, bool flushes, double accuracy, Value exact) {
  Shape const s = t.shape;
  Table const table = Table::of(s.e, s.m, true, false);
  u64 wrong = 0, seen = 0;
  // What the opcode gives is read by a case whose reference accepts it if it is within the bound: all codes are
  // operands.
  std::vector<u64> in(65536);
  for (u64 code = 0; code < 65536; ++code) in[code] = code;
  Bench bench(
      ".visible .entry k(.param .u64 a, .param .u64 r) { .reg .b32 %x<4>; .reg .b64 %a<4>; .reg .b16 %h<2>;\n"
      "mov.u32 %x0, %tid.x; mov.u32 %x1, %ctaid.x; mad.lo.u32 %x0, %x1, 256, %x0; mul.wide.u32 %a0, %x0, 8;\n"
      "ld.param.u64 %a1, [a]; add.s64 %a1, %a1, %a0; ld.param.u64 %a2, [r]; add.s64 %a2, %a2, %a0;\n"
      "ld.global.b16 %h0, [%a1]; " +
      opcode + "." + t.name + " %h1, %h0; st.global.b16 [%a2], %h1; ret; }\n");
  bench.launch.grid = {256, 1, 1};
  bench.launch.block = {256, 1, 1};
  bench.buffer("a", in);
  u64 const result = bench.buffer("r", std::vector<u64>(65536, 0));
  REQUIRE(bench.run().ending == Ending::done);
  std::vector<u64> const out = bench.read<u64>(result);
  long double const tiny = table.values[1], normal = table.values[u64{1} << s.m];
  for (u64 code = 0; code < 65536; ++code) {
    long double const x = table.value(flushes ? flushed(code, s) : code), want = exact(x), got = table.value(out[code]);
    bool good;
    if (std::isnan(want))
      good = out[code] == table.nan();
    else if (std::fabs(want) > table.values.back())
      good = got == want || std::isinf(got) || std::fabs(got) == table.values.back();
    else if (flushes && std::fabs(want) < normal)
      good = std::fabs(got) <= normal;
    else
      good = std::fabs(got - want) <= std::max<long double>(std::fabs(want) * std::exp2(-accuracy), tiny);
    wrong += !good;
    ++seen;
    if (good || wrong > 3) continue;
    CAPTURE(opcode, t.name, code, out[code], static_cast<double>(want));
    CHECK(static_cast<double>(got) == static_cast<double>(want));
  }
  INFO(opcode << "." << t.name);
  CHECK(seen == 65536);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("f16 and bf16 arithmetic is exact to rounding, with every modifier") {
  check_all(basic_cases());
}
TEST_CASE("min and max of f16, bf16 and f32 treat NaN, zeros and signs as PTX says") {
  check_all(extreme_cases());
}
TEST_CASE("mixed precision and pairs of f32 are exact to rounding in every mode") {
  check_all(mixed_cases());
}
TEST_CASE("ex2 and tanh of f16 and bf16 keep their bounds on all operands") {
  auto power = [](long double x) { return std::exp2(x); };
  auto tangent = [](long double x) { return std::tanh(x); };
  check_approximate("ex2.approx", f16, false, 9.9, power);
  check_approximate("ex2.approx.ftz", bf16, true, 7, power);
  check_approximate("tanh.approx", f16, false, 10.987, tangent);
  check_approximate("tanh.approx", bf16, false, 8, tangent);
}

}  // namespace kernelcast::emu::test
