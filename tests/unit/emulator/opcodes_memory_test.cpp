// Loads and stores in their rare forms, and every atomic operation against its definition: lanes take their turn in
// ascending order, so that the memory and every returned value are known.
#include <algorithm>
#include <numeric>

#include "catch.hpp"
#include "exact.hpp"
#include "opcode_cases.hpp"

namespace kernelcast::emu::test {
namespace {

template <class T>
std::vector<T> counted(std::size_t n, T first = 1) {
  std::vector<T> values(n);
  std::iota(values.begin(), values.end(), first);
  return values;
}

// Copies `bytes` per lane from p to q by this text, which may use %a0 (from) and %a1 (to); the lanes differ.
std::vector<u32> copied(std::string const& text, u32 bytes, u32 lanes = 64) {
  Bench bench(
      ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) {\n"
      ".reg .pred %p<4>; .reg .b32 %w<16>; .reg .b64 %d<16>; .reg .b64 %a<4>; .reg .b128 %q<4>; .reg .b32 %n<4>;\n"
      "ld.param.u64 %a0, [p]; ld.param.u64 %a1, [q]; ld.param.u32 %n0, [n]; mov.u32 %n1, %tid.x;\n"
      "mul.wide.u32 %a2, %n1, %n0; add.s64 %a0, %a0, %a2; add.s64 %a1, %a1, %a2;\n" +
      text + " ret; }\n");
  bench.launch.block = {lanes, 1, 1};
  bench.buffer("p", counted<u32>(bytes / 4 * lanes));
  u64 const to = bench.buffer("q", std::vector<u32>(bytes / 4 * lanes, 0));
  bench.argument(bytes);
  Outcome const& outcome = bench.run();
  if (outcome.finding) FAIL(outcome.finding->message);
  return bench.read<u32>(to);
}

// One atomic operation: `lanes` lanes, each on cell lane % cells, with operands from b and c.
struct Atomic {
  std::string opcode;
  u32 bytes;  // of the whole access
  std::function<void(std::uint8_t* cell, std::uint8_t const* b, std::uint8_t const* c)> apply;
  std::string registers;  // how a value of these bytes is written, {0} the bank: "%w{0}" and the like
  std::string declare, load, store;
  bool third = false;
  std::string space = "global";
  std::function<void(Random&, std::uint8_t*)> draw = {};
};

void check_atomic(Atomic const& a, bool returns, u32 cells) {
  constexpr u32 lanes = 96;
  Random random{3 + cells};
  std::vector<std::uint8_t> memory(a.bytes * cells), b(a.bytes * lanes), c(a.bytes * lanes);
  for (std::vector<std::uint8_t>* v : {&memory, &b, &c})
    for (u32 at = 0; at < v->size(); at += a.bytes) {
      if (a.draw) {
        a.draw(random, v->data() + at);
        continue;
      }
      for (u32 k = 0; k < a.bytes; ++k) (*v)[at + k] = static_cast<std::uint8_t>(random());
    }
  // Compare-and-swap must hit now and then.
  if (a.third)
    for (u32 lane = 0; lane < lanes; lane += 2)
      std::copy_n(&memory[lane % cells * a.bytes], a.bytes, &b[lane * a.bytes]);
  auto name = [&](char const* bank) {
    std::string text = a.registers;
    for (std::size_t at; (at = text.find("{0}")) != std::string::npos;) text.replace(at, 3, bank);
    return text;
  };
  bool const shared = a.space == "shared";
  std::string const size = std::to_string(a.bytes);
  std::string text =
      ".visible .entry k(.param .u64 m, .param .u64 b, .param .u64 c, .param .u64 r) {\n" + a.declare +
      ".shared .align 32 .b8 cells[4096];\n.reg .pred %p; .reg .b32 %n<8>; .reg .b64 %a<12>; .reg .b8 %byte;\n"
      "mov.u32 %n0, %tid.x; rem.u32 %n1, %n0, " +
      std::to_string(cells) + "; mul.wide.u32 %a0, %n0, " + size +
      ";\n"
      "ld.param.u64 %a1, [m]; mul.wide.u32 %a2, %n1, " +
      size +
      "; add.s64 %a3, %a1, %a2;\n"
      "ld.param.u64 %a4, [b]; add.s64 %a4, %a4, %a0; ld.param.u64 %a5, [c]; add.s64 %a5, %a5, %a0;\n"
      "ld.param.u64 %a6, [r]; add.s64 %a6, %a6, %a0;\n";
  std::string const bytes_of_cells = std::to_string(cells * a.bytes);
  if (shared)
    text +=
        "setp.ne.u32 %p, %n0, 0; mov.u64 %a7, cells; @%p bra READY; mov.u64 %a8, 0;\nIN: add.s64 %a9, %a1, %a8;\n"
        "ld.global.u8 %byte, [%a9]; add.s64 %a9, %a7, %a8; st.shared.u8 [%a9], %byte; add.s64 %a8, %a8, 1;\n"
        "setp.lt.u64 %p, %a8, " +
        bytes_of_cells + "; @%p bra IN;\nREADY: bar.sync 0; add.s64 %a3, %a7, %a2;\n";
  text += a.load + " " + name("b") + ", [%a4]; " + a.load + " " + name("c") + ", [%a5];\n";
  if (returns)
    text += "atom." + a.opcode + " " + name("d") + ", [%a3], " + name("b") + (a.third ? ", " + name("c") : "") + ";\n" +
            a.store + " [%a6], " + name("d") + ";\n";
  else
    text += "red." + a.opcode + " [%a3], " + name("b") + ";\n";
  if (shared)
    text +=
        "bar.sync 0; @%p bra OUT; setp.ne.u32 %p, %n0, 0; @%p bra OUT; mov.u64 %a8, 0;\nBACK: add.s64 %a9, %a7, %a8;\n"
        "ld.shared.u8 %byte, [%a9]; add.s64 %a9, %a1, %a8; st.global.u8 [%a9], %byte; add.s64 %a8, %a8, 1;\n"
        "setp.lt.u64 %p, %a8, " +
        bytes_of_cells + "; @%p bra BACK;\n";
  text += "OUT: ret; }\n";
  for (std::string const& level : isa_levels()) {
    INFO(a.opcode << (returns ? " returns" : "") << ", " << cells << " cells, level " << level);
    use_isa_level(level);
    Bench bench(text);
    bench.launch.block = {lanes, 1, 1};
    u64 const m = bench.buffer("m", memory);
    bench.buffer("b", b);
    bench.buffer("c", c);
    u64 const r = bench.buffer("r", std::vector<std::uint8_t>(a.bytes * lanes, 0));
    Outcome const& outcome = bench.run();
    if (outcome.finding) FAIL(outcome.finding->message);
    std::vector<std::uint8_t> expected = memory, old(a.bytes * lanes, 0);
    for (u32 lane = 0; lane < lanes; ++lane) {
      std::uint8_t* const cell = &expected[lane % cells * a.bytes];
      if (returns) std::copy_n(cell, a.bytes, &old[lane * a.bytes]);
      a.apply(cell, &b[lane * a.bytes], &c[lane * a.bytes]);
    }
    CHECK(bench.read<std::uint8_t>(m) == expected);
    CHECK(bench.read<std::uint8_t>(r) == old);
  }
  use_isa_level(isa_levels().back());
}

void check_both(Atomic a) {
  std::string const opcode = a.opcode;
  for (std::string const space : {"global", "shared"}) {
    bool const vector = a.registers.find('{', 3) != std::string::npos && a.registers.front() == '{';
    if (space == "shared" && vector) continue;
    a.space = space;
    a.opcode = space + "." + opcode;
    for (u32 cells : {1u, 7u, 96u}) {
      check_atomic(a, true, cells);
      bool const reduces = !a.third && opcode.find("exch") == std::string::npos;
      if (reduces) check_atomic(a, false, cells);
    }
  }
}

template <class T, class F>
Atomic scalar(std::string opcode, std::string type, F f, bool third = false) {
  Atomic a;
  a.opcode = opcode;
  a.bytes = sizeof(T);
  a.apply = [f](std::uint8_t* cell, std::uint8_t const* b, std::uint8_t const* c) {
    T x, y, z;
    std::memcpy(&x, cell, sizeof x);
    std::memcpy(&y, b, sizeof y);
    std::memcpy(&z, c, sizeof z);
    T const result = f(x, y, z);
    std::memcpy(cell, &result, sizeof result);
  };
  std::string const bits = std::to_string(8 * sizeof(T));
  a.registers = "%v{0}";
  a.declare = ".reg ." + type + " %vb; .reg ." + type + " %vc; .reg ." + type + " %vd;\n";
  a.load = "ld.global.b" + bits;
  a.store = "st.global.b" + bits;
  a.third = third;
  return a;
}

// Vectors of `n` elements of 16 or 32 bits.
Atomic vector(std::string opcode, u32 n, u32 element_bytes, std::function<u64(u64, u64)> f) {
  Atomic a;
  a.opcode = opcode;
  a.bytes = n * element_bytes;
  a.apply = [=](std::uint8_t* cell, std::uint8_t const* b, std::uint8_t const*) {
    for (u32 k = 0; k < n; ++k) {
      u64 x = 0, y = 0;
      std::memcpy(&x, cell + k * element_bytes, element_bytes);
      std::memcpy(&y, b + k * element_bytes, element_bytes);
      u64 const result = f(x, y);
      std::memcpy(cell + k * element_bytes, &result, element_bytes);
    }
  };
  std::string const bits = std::to_string(8 * element_bytes);
  std::string list;
  for (u32 k = 0; k < n; ++k) list += (k ? ", %v{0}" : "%v{0}") + std::to_string(k);
  a.registers = "{" + list + "}";
  for (char const* bank : {"b", "c", "d"}) a.declare += std::string(".reg .b") + bits + " %v" + bank + "<8>;\n";
  // Eight elements of 16 bits are no vector that ld has before the newest targets: as the emulator takes them.
  a.load = "ld.global.v" + std::to_string(n) + ".b" + bits;
  a.store = "st.global.v" + std::to_string(n) + ".b" + bits;
  return a;
}

u64 half_sum(u64 a, u64 b, bool brain) {
  return added(a & 0xffff, b & 0xffff, brain ? bf16_shape : f16_shape, Toward::nearest_even);
}
u64 half_extreme(u64 a, u64 b, bool brain, bool maximum) {
  a &= 0xffff, b &= 0xffff;
  static Table const brains = Table::of(8, 7, true, false), halves = Table::of(5, 10, true, false);
  Table const& t = brain ? brains : halves;
  long double const x = t.value(a), y = t.value(b);
  if (std::isnan(x) && std::isnan(y)) return 0x7fff;
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) ? b : a;
  bool const below = x == y ? std::signbit(x) && !std::signbit(y) : x < y;
  return below != maximum ? a : b;
}

}  // namespace

TEST_CASE("the reserved part of shared memory is not used otherwise") {
  Bench b(R"(
.extern .shared .align 16 .b8 given[];
.visible .entry k(.param .u64 out)
{ .reg .b32 %r<16>; .reg .b64 %rd<2>;
  .shared .align 4 .b8 own[68];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %reserved_smem_offset_begin; mov.u32 %r2, %reserved_smem_offset_end;
  mov.u32 %r3, %reserved_smem_offset_0; mov.u32 %r4, %reserved_smem_offset_1;
  mov.u32 %r5, %reserved_smem_offset_cap;
  mov.u32 %r10, 10; mov.u32 %r11, 11; mov.u32 %r12, 12; mov.u32 %r13, 13; mov.u32 %r14, 14;
  st.shared.u32 [own+64], %r10; st.shared.u32 [given], %r11; st.shared.u32 [%r3], %r12;
  st.shared.u32 [%r4], %r13; st.shared.u32 [%r2+-4], %r14;
  ld.shared.u32 %r10, [own+64]; ld.shared.u32 %r11, [given]; ld.shared.u32 %r12, [%r1];
  ld.shared.u32 %r13, [%r4]; ld.shared.u32 %r14, [%r2+-4];
  sub.u32 %r6, %r2, %r1;
  st.global.u32 [%rd1], %r10; st.global.u32 [%rd1+4], %r11; st.global.u32 [%rd1+8], %r12;
  st.global.u32 [%rd1+12], %r13; st.global.u32 [%rd1+16], %r14; st.global.u32 [%rd1+20], %r6;
  st.global.u32 [%rd1+24], %r5;
  ret; }
)");
  std::uint64_t const out = b.buffer("out", 7 * 4);
  b.launch.block = {1, 1, 1};
  b.launch.dynamic_shared_bytes = 64;
  b.run();
  REQUIRE(b.outcome.ending == Ending::done);
  CHECK(b.read<std::uint32_t>(out) == std::vector<std::uint32_t>{10, 11, 12, 13, 14, 1024, 1024});
}

TEST_CASE("128 bits move through registers, halves and memory") {
  std::vector<u32> const all = counted<u32>(4 * 64);
  CHECK(copied("ld.global.b128 %q0, [%a0]; st.global.b128 [%a1], %q0;", 16) == all);
  CHECK(copied("ld.global.nc.b128 %q0, [%a0]; mov.b128 %q1, %q0; st.global.b128 [%a1], %q1;", 16) == all);
  CHECK(copied("ld.global.b128 %q0, [%a0]; mov.b128 {%d0, %d1}, %q0; st.global.v2.b64 [%a1], {%d0, %d1};", 16) == all);
  CHECK(copied("ld.global.v2.b64 {%d0, %d1}, [%a0]; mov.b128 %q0, {%d0, %d1}; st.global.b128 [%a1], %q0;", 16) == all);
  // Halves crosswise, in place.
  std::vector<u32> const swapped = copied(
      "ld.global.b128 %q0, [%a0]; mov.b128 {%d0, %d1}, %q0; mov.b128 %q0, {%d1, %d0}; st.global.b128 [%a1], %q0;", 16);
  for (u32 i = 0; i < swapped.size(); ++i) CHECK(swapped[i] == all[i ^ 2]);
}

TEST_CASE("vectors of 256 bits, with elements left out") {
  std::vector<u32> const all = counted<u32>(8 * 64);
  CHECK(copied("ld.global.v8.f32 {%w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7}, [%a0];\n"
               "st.global.v8.f32 [%a1], {%w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7};",
               32) == all);
  CHECK(
      copied(
          "ld.global.L2::evict_last.v4.u64 {%d0, %d1, %d2, %d3}, [%a0]; st.global.v4.b64 [%a1], {%d0, %d1, %d2, %d3};",
          32) == all);
  std::vector<u32> const gaps = copied(
      "ld.global.v8.b32 {%w0, _, %w2, %w3, %w4, %w5, _, %w7}, [%a0];\n"
      "st.global.v8.b32 [%a1], {%w0, _, %w2, _, %w4, %w5, _, %w7};",
      32);
  for (u32 i = 0; i < gaps.size(); ++i) CHECK(gaps[i] == (i % 8 == 1 || i % 8 == 3 || i % 8 == 6 ? 0 : all[i]));
  std::vector<u32> const two = copied("ld.global.v2.b32 {%w0, %w1}, [%a0]; st.global.v2.b32 [%a1], {_, %w1};", 8);
  for (u32 i = 0; i < two.size(); ++i) CHECK(two[i] == (i % 2 ? i + 1 : 0));
}

TEST_CASE("registers of vector types are their elements") {
  std::vector<u32> const out = copied(
      ".reg .v4 .b32 %v; .reg .v2 .b32 %u; .reg .v4 .u32 %t; ld.global.v4.b32 %v, [%a0]; add.u32 %v.y, %v.x, %v.w;\n"
      "mov.v4.u32 %t, %tid; mov.b32 %v.z, %t.x; mov.v4.b32 %t, %v; mov.b32 %u.x, %t.z; mov.b32 %u.y, %t.y;\n"
      "st.global.v2.b32 [%a1+8], %u; st.global.v2.b32 [%a1], {%t.x, %t.w};",
      16);
  for (u32 lane = 0; lane < 64; ++lane) {
    CHECK(out[4 * lane] == 4 * lane + 1);
    CHECK(out[4 * lane + 1] == 4 * lane + 4);
    CHECK(out[4 * lane + 2] == lane);
    CHECK(out[4 * lane + 3] == 8 * lane + 5);
  }
  // As a whole, both ways, as GCC has it.
  std::vector<u32> const halves = copied(
      ".reg .v2 .u32 %v; .reg .v2 .u32 %u; ld.global.v2.b32 %v, [%a0]; mov.b64 %d0, %v; add.u64 %d0, %d0, 1;\n"
      "mov.b64 %u, %d0; st.global.v2.b32 [%a1], %u;",
      8);
  for (u32 i = 0; i < halves.size(); ++i) CHECK(halves[i] == (i % 2 ? i + 1 : i + 2));
}

TEST_CASE("atomic operations on integers and bits") {
  auto add = [](auto a, auto b, auto) { return a + b; };
  auto least = [](auto a, auto b, auto) { return std::min(a, b); };
  auto most = [](auto a, auto b, auto) { return std::max(a, b); };
  auto exchange = [](auto, auto b, auto) { return b; };
  auto swap = [](auto a, auto b, auto c) { return a == b ? c : a; };
  using s32 = std::int32_t;
  using s64 = std::int64_t;
  check_both(scalar<u32>("add.u32", "b32", add));
  check_both(scalar<u64>("add.u64", "b64", add));
  check_both(scalar<u32>("min.u32", "b32", least));
  check_both(scalar<s32>("min.s32", "b32", least));
  check_both(scalar<u64>("min.u64", "b64", least));
  check_both(scalar<s64>("min.s64", "b64", least));
  check_both(scalar<u32>("max.u32", "b32", most));
  check_both(scalar<s32>("max.s32", "b32", most));
  check_both(scalar<u64>("max.u64", "b64", most));
  check_both(scalar<s64>("max.s64", "b64", most));
  check_both(scalar<u32>("and.b32", "b32", [](u32 a, u32 b, u32) { return a & b; }));
  check_both(scalar<u64>("or.b64", "b64", [](u64 a, u64 b, u64) { return a | b; }));
  check_both(scalar<u32>("xor.b32", "b32", [](u32 a, u32 b, u32) { return a ^ b; }));
  check_both(scalar<u32>("inc.u32", "b32", [](u32 a, u32 b, u32) { return a >= b ? 0u : a + 1; }));
  check_both(scalar<u32>("dec.u32", "b32", [](u32 a, u32 b, u32) { return a == 0 || a > b ? b : a - 1; }));
  check_both(scalar<u32>("exch.b32", "b32", exchange));
  check_both(scalar<u64>("exch.b64", "b64", exchange));
  check_both(scalar<u128>("exch.b128", "b128", exchange));
  check_both(scalar<u16>("cas.b16", "b16", swap, true));
  check_both(scalar<u32>("cas.b32", "b32", swap, true));
  check_both(scalar<u64>("cas.b64", "b64", swap, true));
  check_both(scalar<u128>("cas.b128", "b128", swap, true));
}

TEST_CASE("atomic sums and extremes of 16-bit floats, alone, packed and in vectors") {
  for (bool brain : {false, true}) {
    std::string const t = brain ? "bf16" : "f16";
    struct Operation {
      std::string name;
      std::function<u64(u64, u64)> apply;
    };
    for (Operation const &o : {Operation{"add", [=](u64 a, u64 b) { return half_sum(a, b, brain); }},
                               Operation{"min", [=](u64 a, u64 b) { return half_extreme(a, b, brain, false); }},
                               Operation{"max", [=](u64 a, u64 b) { return half_extreme(a, b, brain, true); }}}) {
      auto pair = [f = o.apply](u64 a, u64 b) { return f(a >> 16, b >> 16) << 16 | f(a, b); };
      if (o.name == "add") {
        check_both(scalar<u16>("add.noftz." + t, "b16",
                               [f = o.apply](u16 a, u16 b, u16) { return static_cast<u16>(f(a, b)); }));
        check_both(scalar<u32>("add.noftz." + t + "x2", "b32",
                               [pair](u32 a, u32 b, u32) { return static_cast<u32>(pair(a, b)); }));
      }
      for (u32 n : {2u, 4u, 8u}) {
        check_both(vector(o.name + ".noftz.v" + std::to_string(n) + "." + t, n, 2, o.apply));
        if (n < 8) check_both(vector(o.name + ".noftz.v" + std::to_string(n) + "." + t + "x2", n, 4, pair));
      }
    }
  }
}

TEST_CASE("atomic sums of f32 flush subnormals in global memory only; f64 does not") {
  auto flush = [](float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; };
  auto draw = [](Random& random, std::uint8_t* at) {
    u32 const exponents[] = {0, 0, 1, 2, 127, 128};
    u32 const x = static_cast<u32>(random() & 0x807fffff) | exponents[random.below(6)] << 23;
    std::memcpy(at, &x, 4);
  };
  for (bool shared : {false, true}) {
    auto sum = [=](float a, float b, float) { return shared ? a + b : flush(flush(a) + flush(b)); };
    Atomic a = scalar<float>(std::string(shared ? "shared" : "global") + ".add.f32", "f32", sum);
    a.space = shared ? "shared" : "global";
    a.draw = draw;
    for (u32 cells : {1u, 7u, 96u})
      for (bool returns : {false, true}) check_atomic(a, returns, cells);
  }
  Atomic v = vector("global.add.v4.f32", 4, 4, [=](u64 a, u64 b) { return bits(flush(flush(f(a)) + flush(f(b)))); });
  v.draw = [=](Random& random, std::uint8_t* at) {
    for (int k = 0; k < 4; ++k) draw(random, at + 4 * k);
  };
  check_atomic(v, true, 7);
  check_atomic(v, false, 7);
  Atomic d = scalar<double>("add.f64", "f64", [](double a, double b, double) { return a + b; });
  d.draw = [](Random& random, std::uint8_t* at) {
    u64 const x = (random() & 0x800fffffffffffff) | (random.below(3) ? u64{1000} + random.below(40) : 0) << 52;
    std::memcpy(at, &x, 8);
  };
  check_both(d);
}

}  // namespace kernelcast::emu::test
