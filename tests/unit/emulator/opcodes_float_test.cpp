// Floating-point opcodes of 32 and 64 bits: those of IEEE 754 against the host's, in every rounding mode; approximate
// ones within the error that PTX states.
#include <cfenv>

#include "catch.hpp"
#include "opcode_cases.hpp"

namespace kernelcast::emu::test {
namespace {

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

// One approximate opcode on many operands of 32 bits: relative error at most 2^-`relative`, or absolute 2^-`absolute`.
struct Bound {
  std::string opcode;
  std::function<long double(long double)> exact;
  double relative, absolute;
  double low = -INFINITY, high = INFINITY;  // where the bound holds
  bool flushes = false;
};

void check_bound(Bound const& b) {
  Random random{7};
  constexpr u32 count = 1 << 14;
  std::vector<u32> in(count);
  u32 const special[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000,
                         0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff,
                         0xff7fffff, 0x42fc0000, 0xc2fc0000, 0xc3150000};
  for (u32 i = 0; i < count; ++i)
    in[i] = i < std::size(special) ? special[i]
            : i % 2                ? static_cast<u32>(random())
                                   : static_cast<u32>((random() & 0x807fffff) | (u64{110} + random.below(30)) << 23);
  for (std::string const& level : isa_levels()) {
    INFO(b.opcode << ", level " << level);
    use_isa_level(level);
    Bench bench(
        ".visible .entry k(.param .u64 a, .param .u64 r) { .reg .b32 %x<4>; .reg .b64 %a<4>;\n"
        "mov.u32 %x0, %tid.x; mov.u32 %x1, %ctaid.x; mad.lo.u32 %x0, %x1, 256, %x0; mul.wide.u32 %a0, %x0, 4;\n"
        "ld.param.u64 %a1, [a]; add.s64 %a1, %a1, %a0; ld.param.u64 %a2, [r]; add.s64 %a2, %a2, %a0;\n"
        "ld.global.b32 %x2, [%a1]; " +
        b.opcode + " %x3, %x2; st.global.b32 [%a2], %x3; ret; }\n");
    bench.launch.grid = {count / 256, 1, 1};
    bench.launch.block = {256, 1, 1};
    bench.buffer("a", in);
    u64 const result = bench.buffer("r", std::vector<u32>(count, 0));
    REQUIRE(bench.run().ending == Ending::done);
    std::vector<u32> const out = bench.read<u32>(result);
    u32 good = 0;
    for (u32 i = 0; i < count; ++i) {
      float x = f(in[i]);
      if (b.flushes && std::fpclassify(x) == FP_SUBNORMAL) x = std::copysign(0.0f, x);
      long double want = b.exact(x);
      float const got = f(out[i]);
      if (b.flushes && std::fabs(want) < 0x1p-126L) want = std::copysign(0.0L, want);
      bool const inside = x >= b.low && x <= b.high;
      bool const ok = std::isnan(want)                  ? out[i] == 0x7fffffff
                      : std::fabs(want) > 3.4028236e38L ? std::isinf(got) || std::fabs(got) > 3.4e38f
                      : !inside && std::isfinite(x)     ? std::isfinite(got)
                      : std::isinf(want)                ? static_cast<long double>(got) == want
                                                        : std::fabs(got - want) <=
                                               std::max({std::fabs(want) * std::exp2(-b.relative),
                                                         static_cast<long double>(std::exp2(-b.absolute)), 0x1p-149L});
      good += ok;
      if (ok) continue;
      CAPTURE(in[i], out[i], got, static_cast<double>(want));
      FAIL("out of bounds");
    }
    CHECK(good == count);
  }
  use_isa_level(isa_levels().back());
}

}  // namespace

TEST_CASE("floating-point opcodes equal the host's, in every rounding mode") {
  check_all(float_cases());
}

// [ptx] "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh": errors as the manual states them, against long
// double.
TEST_CASE("approximate opcodes keep the error that PTX states") {
  constexpr double none = 1000;
  auto reciprocal = [](long double x) { return 1 / x; };
  auto root = [](long double x) { return std::sqrt(x); };
  auto reciprocal_root = [](long double x) { return 1 / std::sqrt(x); };
  auto sine = [](long double x) { return std::isinf(x) ? NAN : std::sin(x); };
  auto cosine = [](long double x) { return std::isinf(x) ? NAN : std::cos(x); };
  auto logarithm = [](long double x) { return x == 0 ? -INFINITY : std::log2(x); };
  auto power = [](long double x) { return std::exp2(x); };
  auto tangent = [](long double x) { return std::tanh(x); };
  double const pi = 3.14159265358979323846;
  for (bool ftz : {false, true}) {
    std::string const z = ftz ? ".ftz" : "";
    check_bound({"rcp.approx" + z + ".f32", reciprocal, 23, none, -INFINITY, INFINITY, ftz});
    check_bound({"sqrt.approx" + z + ".f32", root, 23, none, -INFINITY, INFINITY, ftz});
    check_bound({"rsqrt.approx" + z + ".f32", reciprocal_root, 22.9, none, -INFINITY, INFINITY, ftz});
    check_bound({"sin.approx" + z + ".f32", sine, none, 20.5, -pi, pi, ftz});
    check_bound({"cos.approx" + z + ".f32", cosine, none, 20.5, -pi, pi, ftz});
    check_bound({"lg2.approx" + z + ".f32", logarithm, 22, 22, -INFINITY, INFINITY, ftz});
    check_bound({"ex2.approx" + z + ".f32", power, 22.5, none, -INFINITY, INFINITY, ftz});
  }
  check_bound({"tanh.approx.f32", tangent, 11, none, -INFINITY, INFINITY, false});
  // Of large arguments, too, as exactly as a result near 1 can be.
  check_bound({"sin.approx.f32", sine, none, 24, -1e9, 1e9, false});
  check_bound({"cos.approx.f32", cosine, none, 24, -1e9, 1e9, false});
}

// The gross approximations of rcp and rsqrt: of the upper word, into the upper word, to 2^-20; subnormals are zero.
TEST_CASE("rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 work on upper words") {
  auto upper = [](u64 x) { return (x >> 52 & 0x7ff) == 0 ? x & (u64{1} << 63) : x & ~u64{0xffffffff}; };
  for (bool root : {false, true}) {
    std::vector<u64> in = {0,
                           u64{1} << 63,
                           1,
                           0x7ff0000000000000,
                           0xfff0000000000000,
                           0x7ff8000000000000,
                           0x0010000000000000,
                           0x7fefffffffffffff,
                           0x3ff0000000000000,
                           0x4008000000000001};
    Random random{11};
    while (in.size() < 256) in.push_back(random());
    Bench bench(
        std::string(".visible .entry k(.param .u64 a, .param .u64 r) { .reg .b32 %x<4>; .reg .b64 %a<6>;\n"
                    "mov.u32 %x0, %tid.x; mul.wide.u32 %a0, %x0, 8;\n"
                    "ld.param.u64 %a1, [a]; add.s64 %a1, %a1, %a0; ld.param.u64 %a2, [r]; add.s64 %a2, %a2, %a0;\n"
                    "ld.global.b64 %a3, [%a1]; ") +
        (root ? "rsqrt" : "rcp") + ".approx.ftz.f64 %a4, %a3; st.global.b64 [%a2], %a4; ret; }\n");
    bench.launch.block = {256, 1, 1};
    bench.buffer("a", in);
    u64 const result = bench.buffer("r", std::vector<u64>(256, 1));
    REQUIRE(bench.run().ending == Ending::done);
    std::vector<u64> const out = bench.read<u64>(result);
    for (std::size_t i = 0; i < 256; ++i) {
      long double const x = g(upper(in[i])), want = root ? 1 / std::sqrt(x) : 1 / x;
      INFO("operand " << in[i]);
      CHECK((out[i] & 0xffffffff) == 0);
      if (std::isnan(want))
        CHECK(std::isnan(g(out[i])));
      else if (std::isinf(want) || std::fabs(want) < 0x1p-1022L)
        CHECK(out[i] == bits(static_cast<double>(std::isinf(want) ? want : std::copysign(0.0L, want))));
      else
        CHECK(std::fabs(g(out[i]) - want) <= std::fabs(want) * 0x1p-20L);
    }
  }
}

}  // namespace kernelcast::emu::test
