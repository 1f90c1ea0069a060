// mma against the product by its definition. The layouts are those of the PTX manual, one by one, as it writes them.
#include "catch.hpp"
#include "matrix_bench.hpp"

using namespace kernelcast::emu;
using namespace kernelcast::emu::test;

namespace {

struct Case {
  std::string shape;
  int m, n, k;
  std::string a, b, c, d;  // types
  int a_elements, b_elements;
  Layout a_at, b_at;
  std::string before, after;  // words of the opcode before and after the types
};

int group(int lane) {
  return lane >> 2;
}
int quarter(int lane) {
  return lane % 4;
}

// Accumulators: [ptx] all shapes but m8n8k4 of f16.
std::pair<int, int> sum_16(int lane, int i) {
  return {i < 2 ? group(lane) : group(lane) + 8, quarter(lane) * 2 + (i & 1)};
}
std::pair<int, int> sum_8(int lane, int i) {
  return {group(lane), quarter(lane) * 2 + i};
}

std::vector<Case> cases() {
  using P = std::pair<int, int>;
  std::vector<Case> all;
  auto const g = group;
  auto const t = quarter;
  // m16n8k8
  for (std::string const type : {"f16", "bf16"}) {
    Layout const a8 = [=](int l, int i) { return P(i < 2 ? g(l) : g(l) + 8, t(l) * 2 + (i & 1)); };
    Layout const b8 = [=](int l, int i) { return P(t(l) * 2 + i, g(l)); };
    Layout const a16 = [=](int l, int i) {
      return P(i < 2 || (i >= 4 && i < 6) ? g(l) : g(l) + 8, i < 4 ? t(l) * 2 + (i & 1) : t(l) * 2 + (i & 1) + 8);
    };
    Layout const b16 = [=](int l, int i) { return P(t(l) * 2 + (i & 1) + (i < 2 ? 0 : 8), g(l)); };
    for (std::string const d : {"f32", "f16"}) {
      if (type == "bf16" && d == "f16") continue;
      for (std::string const c : {"f32", "f16"}) {
        if (c != d && type == "bf16") continue;
        if (c != d) continue;
        all.push_back({"m16n8k8", 16, 8, 8, type, type, c, d, 4, 2, a8, b8, "", ""});
        all.push_back({"m16n8k16", 16, 8, 16, type, type, c, d, 8, 4, a16, b16, "", ""});
      }
    }
  }
  Layout const a4 = [=](int l, int i) { return P(i == 0 ? g(l) : g(l) + 8, t(l)); };
  Layout const b4 = [=](int l, int) { return P(t(l), g(l)); };
  Layout const a8 = [=](int l, int i) { return P(i == 0 || i == 2 ? g(l) : g(l) + 8, i < 2 ? t(l) : t(l) + 4); };
  Layout const b8 = [=](int l, int i) { return P(i == 0 ? t(l) : t(l) + 4, g(l)); };
  all.push_back({"m16n8k4", 16, 8, 4, "tf32", "tf32", "f32", "f32", 2, 1, a4, b4, "", ""});
  all.push_back({"m16n8k8", 16, 8, 8, "tf32", "tf32", "f32", "f32", 4, 2, a8, b8, "", ""});
  all.push_back({"m16n8k4", 16, 8, 4, "f64", "f64", "f64", "f64", 2, 1, a4, b4, "", ""});
  all.push_back({"m16n8k8", 16, 8, 8, "f64", "f64", "f64", "f64", 4, 2, a8, b8, "", ""});
  all.push_back(
      {"m16n8k16", 16, 8, 16, "f64", "f64", "f64", "f64", 8, 4,
       [=](int l, int i) { return P(i % 2 == 0 ? g(l) : g(l) + 8, i % 2 == 0 ? i * 2 + t(l) : i * 2 - 2 + t(l)); },
       [=](int l, int i) { return P(t(l) + i * 4, g(l)); }, "", ""});
  all.push_back({"m8n8k4", 8, 8, 4, "f64", "f64", "f64", "f64", 1, 1, [=](int l, int) { return P(l >> 2, l % 4); },
                 [=](int l, int) { return P(l % 4, l >> 2); }, "", ""});
  // 8 bits
  Layout const a8n8k16 = [=](int l, int i) { return P(g(l), t(l) * 4 + i); };
  Layout const b8n8k16 = [=](int l, int i) { return P(t(l) * 4 + i, g(l)); };
  Layout const a16n8k16 = [=](int l, int i) { return P(i < 4 ? g(l) : g(l) + 8, t(l) * 4 + (i & 3)); };
  Layout const a16n8k32 = [=](int l, int i) {
    return P(i < 4 || (i >= 8 && i < 12) ? g(l) : g(l) + 8, i < 8 ? t(l) * 4 + (i & 3) : t(l) * 4 + (i & 3) + 16);
  };
  Layout const b16n8k32 = [=](int l, int i) { return P(i < 4 ? t(l) * 4 + (i & 3) : t(l) * 4 + (i & 3) + 16, g(l)); };
  for (auto const& [a, b] : {std::pair{"s8", "s8"}, {"u8", "u8"}, {"s8", "u8"}, {"u8", "s8"}})
    for (std::string const word : {"", ".satfinite"}) {
      all.push_back({"m8n8k16", 8, 8, 16, a, b, "s32", "s32", 4, 4, a8n8k16, b8n8k16, word, ""});
      all.push_back({"m16n8k16", 16, 8, 16, a, b, "s32", "s32", 8, 4, a16n8k16, b8n8k16, word, ""});
      all.push_back({"m16n8k32", 16, 8, 32, a, b, "s32", "s32", 16, 8, a16n8k32, b16n8k32, word, ""});
    }
  for (auto const& [a, b] : {std::pair{"e4m3", "e4m3"}, {"e5m2", "e5m2"}, {"e4m3", "e5m2"}})
    for (std::string const d : {"f32", "f16"}) {
      all.push_back({"m16n8k16", 16, 8, 16, a, b, d, d, 8, 4, a16n8k16, b8n8k16, "", ""});
      all.push_back({"m16n8k32", 16, 8, 32, a, b, d, d, 16, 8, a16n8k32, b16n8k32, "", ""});
    }
  for (auto const& [a, b] : {std::pair{"e3m2", "e2m3"}, {"e2m1", "e4m3"}, {"e2m3", "e2m1"}})
    all.push_back({"m16n8k32", 16, 8, 32, a, b, "f32", "f32", 16, 8, a16n8k32, b16n8k32, ".kind::f8f6f4", ""});
  // 4 bits
  Layout const a8n8k32 = [=](int l, int i) { return P(g(l), t(l) * 8 + i); };
  Layout const b8n8k32 = [=](int l, int i) { return P(t(l) * 8 + i, g(l)); };
  Layout const a16n8k32s4 = [=](int l, int i) { return P(i < 8 ? g(l) : g(l) + 8, t(l) * 8 + (i & 7)); };
  Layout const a16n8k64 = [=](int l, int i) {
    return P(i < 8 || (i >= 16 && i < 24) ? g(l) : g(l) + 8, i < 16 ? t(l) * 8 + (i & 7) : t(l) * 8 + (i & 7) + 32);
  };
  Layout const b16n8k64 = [=](int l, int i) { return P(i < 8 ? t(l) * 8 + (i & 7) : t(l) * 8 + (i & 7) + 32, g(l)); };
  for (auto const& [a, b] : {std::pair{"s4", "s4"}, {"u4", "u4"}, {"u4", "s4"}}) {
    all.push_back({"m8n8k32", 8, 8, 32, a, b, "s32", "s32", 8, 8, a8n8k32, b8n8k32, "", ""});
    all.push_back({"m16n8k32", 16, 8, 32, a, b, "s32", "s32", 16, 8, a16n8k32s4, b8n8k32, "", ""});
    all.push_back({"m16n8k64", 16, 8, 64, a, b, "s32", "s32", 32, 16, a16n8k64, b16n8k64, ".satfinite", ""});
  }
  // single bits
  for (std::string const word : {".xor.popc", ".and.popc"}) {
    Layout const b128 = [=](int l, int i) { return P(t(l) * 32 + i, g(l)); };
    all.push_back({"m8n8k128", 8, 8, 128, "b1", "b1", "s32", "s32", 32, 32,
                   [=](int l, int i) { return P(g(l), t(l) * 32 + i); }, b128, "", word});
    all.push_back({"m16n8k128", 16, 8, 128, "b1", "b1", "s32", "s32", 64, 32,
                   [=](int l, int i) { return P(i < 32 ? g(l) : g(l) + 8, t(l) * 32 + (i & 31)); }, b128, "", word});
    all.push_back({"m16n8k256", 16, 8, 256, "b1", "b1", "s32", "s32", 128, 64,
                   [=](int l, int i) {
                     return P(i < 32 || (i >= 64 && i < 96) ? g(l) : g(l) + 8,
                              t(l) * 32 + (i & 31) + (i < 64 ? 0 : 128));
                   },
                   [=](int l, int i) { return P(t(l) * 32 + (i & 31) + (i < 32 ? 0 : 128), g(l)); }, "", word});
  }
  return all;
}

std::string opcode_of(Case const& x) {
  return "mma.sync.aligned." + x.shape + ".row.col" + x.before + "." + x.d + "." + x.a + "." + x.b + "." + x.c +
         x.after;
}

int registers(Format const& f, int elements) {
  return static_cast<int>(f.bits == 64 ? static_cast<unsigned>(elements)
                                       : static_cast<unsigned>(elements) * f.bits / 32);
}

std::string program(Case const& x, int sums) {
  int const na = registers(format(x.a), x.a_elements), nb = registers(format(x.b), x.b_elements);
  int const nc = registers(format(x.c), sums), nd = registers(format(x.d), sums);
  bool const wide = x.d == "f64";
  std::string const type = wide ? ".b64" : ".b32";
  std::string const sum_type = wide ? ".f64" : x.c == "f32" ? ".f32" : ".b32";
  return " .reg " + type + " %a<8>, %b<8>; .reg " + sum_type + " %c<8>, %d<8>;\n" +
         move_registers('a', na, wide, "pa", false) + move_registers('b', nb, wide, "pb", false) +
         move_registers('c', nc, wide, "pc", false) + " " + opcode_of(x) + " " + register_list('d', nd) + ", " +
         register_list('a', na) + ", " + register_list('b', nb) + ", " + register_list('c', nc) + ";\n" +
         move_registers('d', nd, wide, "pd", true);
}

Codes run_case(Case const& x, Codes const& a, Codes const& b, Codes const& c) {
  int const sums = x.m == 8 ? 2 : 4;
  Layout const sum_at = x.m == 8 ? sum_8 : sum_16;
  Bench bench = matrix_bench(program(x, sums));
  bench.buffer("a", fragment_words(a, format(x.a).bits, x.a_elements, x.a_at));
  bench.buffer("b", fragment_words(b, format(x.b).bits, x.b_elements, x.b_at));
  bench.buffer("c", fragment_words(c, format(x.c).bits, sums, sum_at));
  std::uint64_t const d =
      bench.buffer("d", static_cast<std::uint64_t>(32 * sums * static_cast<int>(format(x.d).bits) / 8));
  bench.run();
  if (bench.outcome.finding) FAIL(opcode_of(x) << ": " << bench.outcome.finding->message);
  return matrix_of(bench.read<std::uint32_t>(d), x.m, x.n, format(x.d).bits, sums, sum_at);
}

// The sum in integers, wrapped or saturated.
std::uint64_t integer_sum(Case const& x, Codes const& a, Codes const& b, Codes const& c, int row, int column) {
  std::int64_t sum = static_cast<std::int64_t>(format("s32").value(c(row, column)));
  for (int k = 0; k < x.k; ++k) {
    auto const p = static_cast<std::int64_t>(format(x.a).value(a(row, k)));
    auto const q = static_cast<std::int64_t>(format(x.b).value(b(k, column)));
    sum += x.after == ".xor.popc" ? (p ^ q) : x.after == ".and.popc" ? (p & q) : p * q;
  }
  if (x.before == ".satfinite") sum = std::clamp<std::int64_t>(sum, -0x80000000ll, 0x7fffffffll);
  return static_cast<std::uint32_t>(sum);
}

}  // namespace

TEST_CASE("mma multiplies every shape and type as the definition says") {
  Random random{11};
  for (Case const& x : cases()) {
    for (int round = 0; round < 3; ++round) {
      Codes const a = random_codes(random, format(x.a), x.m, x.k), b = random_codes(random, format(x.b), x.k, x.n);
      Codes c = random_codes(random, format(x.c), x.m, x.n);
      if (x.d == "s32" && round == 1)  // near the ends, so that sums leave the range
        for (std::uint64_t& code : c.code)
          code = random() & 1 ? 0x7fffffff - random.below(100) : 0x80000000 + random.below(100);
      Codes const d = run_case(x, a, b, c);
      for (int row = 0; row < x.m; ++row)
        for (int column = 0; column < x.n; ++column) {
          INFO(opcode_of(x) << " row " << row << " column " << column);
          if (x.d == "s32") {
            REQUIRE(d(row, column) == integer_sum(x, a, b, c, row, column));
          } else {
            double const expected =
                product_at(a, format(x.a), b, format(x.b), format(x.c).value(c(row, column)), row, column);
            REQUIRE(format(x.d).value(d(row, column)) == expected);
          }
        }
    }
  }
}

TEST_CASE("mma of f64 is a chain of fused multiply-adds in ascending k") {
  Random random{12};
  auto const real = [&] {
    return std::bit_cast<std::uint64_t>((static_cast<double>(random() >> 11) / 9e15 - 0.5) * 3);
  };
  for (Case const& x : cases()) {
    if (x.d != "f64") continue;
    Codes a(x.m, x.k), b(x.k, x.n), c(x.m, x.n);
    for (Codes* m : {&a, &b, &c})
      for (std::uint64_t& code : m->code) code = real();
    Codes const d = run_case(x, a, b, c);
    for (int row = 0; row < x.m; ++row)
      for (int column = 0; column < x.n; ++column) {
        double sum = std::bit_cast<double>(c(row, column));
        for (int k = 0; k < x.k; ++k)
          sum = std::fma(std::bit_cast<double>(a(row, k)), std::bit_cast<double>(b(k, column)), sum);
        REQUIRE(d(row, column) == std::bit_cast<std::uint64_t>(sum));
      }
  }
}

TEST_CASE("mma of f64 rounds as it is told") {
  // 1 + 2^-60 and -1 + 2^-60 lie between neighbours.
  double const below = std::nextafter(1.0, 0.0), above = std::nextafter(1.0, 2.0);
  struct Rounded {
    std::string word;
    double plus, minus;
  };
  for (Rounded const& r : {Rounded{".rn", 1, -1}, {".rz", 1, -below}, {".rm", 1, -1}, {".rp", above, -below}})
    for (Case x : cases()) {
      if (x.d != "f64") continue;
      x.before = r.word;
      Codes a(x.m, x.k), b(x.k, x.n), c(x.m, x.n);
      for (int i = 0; i < x.m; ++i) a(i, i % x.k) = std::bit_cast<std::uint64_t>(std::ldexp(1.0, -60));
      for (std::uint64_t& code : b.code) code = std::bit_cast<std::uint64_t>(1.0);
      for (std::size_t i = 0; i < c.code.size(); ++i) c.code[i] = std::bit_cast<std::uint64_t>(i % 2 ? -1.0 : 1.0);
      Codes const d = run_case(x, a, b, c);
      for (std::size_t i = 0; i < d.code.size(); ++i)
        REQUIRE(d.code[i] == std::bit_cast<std::uint64_t>(i % 2 ? r.minus : r.plus));
    }
}

TEST_CASE("mma of floats rounds its sum once: error below an ulp of the largest partial sum") {
  Random random{13};
  double largest = 0;
  for (Case const& x : cases()) {
    if (x.d != "f32" || (x.a != "f16" && x.a != "bf16" && x.a != "tf32")) continue;
    Codes a(x.m, x.k), b(x.k, x.n), c(x.m, x.n);
    for (Codes* m : {&a, &b})
      for (std::uint64_t& code : m->code)
        code = x.a == "tf32"  ? std::bit_cast<std::uint32_t>(static_cast<float>(random.below(1u << 20)) / 524288 - 1)
               : x.a == "f16" ? 0x3000 + random.below(0x0c00) + (random() & 1) * 0x8000
                              : 0x3f00 + random.below(0x100) + (random() & 1) * 0x8000;
    for (std::uint64_t& code : c.code)
      code = std::bit_cast<std::uint32_t>(static_cast<float>(random.below(1u << 24)) / 8388608 - 1);
    Codes const d = run_case(x, a, b, c);
    for (int row = 0; row < x.m; ++row)
      for (int column = 0; column < x.n; ++column) {
        double const exact =
            product_at(a, format(x.a), b, format(x.b), format("f32").value(c(row, column)), row, column);
        double const error = std::fabs(format("f32").value(d(row, column)) - exact);
        largest = std::max(largest, error / std::ldexp(1.0, std::ilogb(exact) - 23));
      }
  }
  CHECK(largest <= 0.5001);  // half an ulp, but for what double precision loses
  CHECK(largest > 0.1);      // the inputs do need rounding
}

TEST_CASE("m8n8k4 of f16 is four products, in every layout") {
  // [ptx] "Matrix Fragments for mma.m8n8k4 with .f16 floating point type"; computation q: lanes 4 q … and 16 + 4 q ….
  Random random{14};
  for (bool const a_column : {false, true})
    for (bool const b_column : {false, true})
      for (std::string const sum : {"f16", "f32"}) {
        std::vector<Codes> a, b, c;
        for (int q = 0; q < 4; ++q) {
          a.push_back(random_codes(random, format("f16"), 8, 4));
          b.push_back(random_codes(random, format("f16"), 4, 8));
          c.push_back(random_codes(random, format(sum), 8, 8));
        }
        auto const a_at = [&](int lane, int i) {
          if (a_column) return std::pair(lane < 16 ? i % 4 : i % 4 + 4, lane % 4);
          return std::pair(lane < 16 ? lane % 4 : lane % 4 + 4, i);
        };
        auto const b_at = [&](int lane, int i) {
          if (b_column) return std::pair(i, lane < 16 ? lane % 4 : lane % 4 + 4);
          return std::pair(lane % 4, lane < 16 ? i : i + 4);
        };
        auto const c_at = [&](int lane, int i) {
          if (sum == "f16") return std::pair(lane < 16 ? lane % 4 : lane % 4 + 4, i);
          int const x = (lane & 1) + (i & 2);
          return std::pair(lane < 16 ? x : x + 4, (i & 4) + (lane & 2) + (i & 1));
        };
        auto const words = [&](std::vector<Codes> const& m, unsigned bits, int elements, Layout const& at) {
          std::vector<std::uint32_t> all;
          for (int q = 0; q < 4; ++q) {
            auto const one = fragment_words(m[static_cast<std::size_t>(q)], bits, elements, at);
            if (q == 0) all.resize(one.size());
            std::size_t const per_lane = one.size() / 32;
            for (std::size_t lane = 0; lane < 32; ++lane)
              if (static_cast<int>(lane % 16 / 4) == q)
                std::copy_n(one.begin() + static_cast<std::ptrdiff_t>(lane * per_lane), per_lane,
                            all.begin() + static_cast<std::ptrdiff_t>(lane * per_lane));
          }
          return all;
        };
        Case const x{"m8n8k4", 8, 8, 4, "f16", "f16", sum, sum, 4, 4, a_at, b_at, "", ""};
        std::string text = program(x, 8);
        text.replace(text.find(".row.col"), 8, std::string(a_column ? ".col" : ".row") + (b_column ? ".col" : ".row"));
        Bench bench = matrix_bench(text);
        bench.buffer("a", words(a, 16, 4, a_at));
        bench.buffer("b", words(b, 16, 4, b_at));
        bench.buffer("c", words(c, format(sum).bits, 8, c_at));
        std::uint64_t const d = bench.buffer("d", std::uint64_t{32} * format(sum).bits);
        bench.run();
        REQUIRE(!bench.outcome.finding);
        std::vector<std::uint32_t> const result = bench.read<std::uint32_t>(d);
        for (int q = 0; q < 4; ++q) {
          auto const quad = static_cast<std::size_t>(q);
          // Only the lanes of computation q are its own.
          for (int lane = 0; lane < 32; ++lane) {
            if (lane % 16 / 4 != q) continue;
            for (int i = 0; i < 8; ++i) {
              auto const [row, column] = c_at(lane, i);
              unsigned const bit = static_cast<unsigned>(i) * format(sum).bits;
              std::uint64_t code =
                  result.at(static_cast<std::size_t>(lane) * format(sum).bits / 4 + bit / 32) >> bit % 32;
              if (sum == "f16") code &= 0xffff;
              double const expected = product_at(a[quad], format("f16"), b[quad], format("f16"),
                                                 format(sum).value(c[quad](row, column)), row, column);
              REQUIRE(format(sum).value(code) == expected);
            }
          }
        }
      }
}

TEST_CASE("mma counts as special, and asks for the whole warp") {
  Bench bench = matrix_bench(
      " .reg .b32 %a<8>, %b<8>, %c<8>, %d<8>;\n mov.u32 %lane, %laneid; setp.lt.u32 %p, %lane, 16; @!%p bra past;\n"
      " mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};\n"
      " ld.param.u64 %base, [pd]; st.global.b32 [%base], %d0;\npast:\n");
  for (char const* name : {"a", "b", "c", "d"}) bench.buffer(name, 4);
  bench.run();
  REQUIRE(bench.outcome.finding);
  CHECK(bench.outcome.finding->kind == Finding::Kind::divergent_barrier);
  CHECK(bench.outcome.finding->message ==
        "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32: needs all 32 lanes of the warp, but some have left or are "
        "elsewhere");
  CHECK(bench.program->instruction_class(3) == Class::special);
}

TEST_CASE("what is not emulated is refused with its reason") {
  for (auto const& [text, reason] :
       {std::pair{"tcgen05.mma.ws.sp.cta_group::1.kind::f16 [%t0], %q0, %q1, [%t0], %t1, %p;",
                  "products of this kind with sparse matrices are not emulated"},
        {"tcgen05.mma.sp.cta_group::1.kind::f16.ashift [%t0], [%t0], %q1, [%t0], %t1, %p;",
         "products of this kind with sparse matrices are not emulated"}}) {
    Bench bench = matrix_bench(std::string(" .reg .b32 %a<8>, %b<8>, %c<8>, %d<8>;\n ") + text + "\n");
    for (char const* name : {"a", "b", "c", "d"}) bench.buffer(name, 4);
    bench.run();
    REQUIRE(bench.outcome.finding);
    CHECK(bench.outcome.finding->kind == Finding::Kind::unknown_opcode);
    CHECK(bench.outcome.finding->message.find(reason) != std::string::npos);
    REQUIRE(bench.program->refused().size() == 1);
    CHECK(bench.program->refused()[0].reason == reason);
  }
}
