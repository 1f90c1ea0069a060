// Memory and its checks, barriers, findings, limits, events, threads and instruction-set levels.
#include <bit>
#include <numeric>
#include <set>

#include "base/diag/diag.hpp"
#include "catch.hpp"
#include "harness.hpp"

namespace kernelcast::emu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Loads one word at in[index] by the given address arithmetic and stores it to out[tid].
std::string load_at(std::string const& address) {
  return ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 index) {\n"
         ".reg .b32 %r<8>; .reg .b64 %a<8>; .reg .pred %p<4>;\n"
         "ld.param.u64 %a0, [in]; ld.param.u64 %a1, [out]; ld.param.u32 %r1, [index]; mov.u32 %r0, %tid.x;\n" +
         address + "mul.wide.u32 %a3, %r0, 4; add.s64 %a4, %a1, %a3; st.global.u32 [%a4], %r2; ret;\n}\n";
}
// Fused (base + scaled index) and not (the same through a 64-bit product the decoder does not know).
std::string const fused_text =
    "add.s32 %r3, %r0, %r1; mul.wide.s32 %a5, %r3, 4; add.s64 %a6, %a0, %a5; ld.global.u32 %r2, [%a6];\n";
std::string const plain =
    "add.s32 %r3, %r0, %r1; cvt.s64.s32 %a5, %r3; mul.lo.s64 %a5, %a5, 4; add.s64 %a6, %a0, %a5; ld.global.u32 %r2, "
    "[%a6];\n";

struct Log : Observer {
  std::vector<MemoryAccess> accesses;
  std::vector<std::vector<u64>> addresses;
  std::vector<u32> barriers, branches, guards;
  std::vector<u32> block_lanes;
  static u32 lanes(Lanes const& l) {
    u32 n = 0;
    for (u32 w = 0; w < l.warps; ++w) n += static_cast<u32>(std::popcount(l.masks[w]));
    return n;
  }
  void block(u32, Lanes const& l) override { block_lanes.push_back(lanes(l)); }
  void guarded(u32, Lanes const& l) override { guards.push_back(lanes(l)); }
  void memory(MemoryAccess const& a) override {
    accesses.push_back(a);
    std::vector<u64> where;
    for (u32 lane = 0; lane < 32 * a.lanes.warps; ++lane)
      if (a.lanes.masks[lane / 32] >> (lane % 32) & 1) where.push_back(a.base + a.offsets[lane]);
    addresses.push_back(where);
  }
  void branch(u32, Lanes const&, Lanes const& taking) override { branches.push_back(lanes(taking)); }
  void barrier(u32, Lanes const& l, u32, u32) override { barriers.push_back(lanes(l)); }
  std::unique_ptr<Observer> fork() const override { return std::make_unique<Log>(); }
  void join(Observer const&) override {}
};

}  // namespace

TEST_CASE("an access may reach the last byte of a buffer and not one further") {
  for (std::string const& how : {fused_text, plain})
    for (u32 threads : {32u, 20u, 256u}) {
      u32 const words = 1000;
      auto attempt = [&](std::int32_t index) {
        Bench bench(load_at(how));
        bench.launch.block = {threads, 1, 1};
        std::vector<u32> input(words);
        for (u32 i = 0; i < words; ++i) input[i] = i * 3 + 1;
        bench.buffer("in", input);
        u64 const out = bench.buffer("out", std::vector<u32>(threads, 0));
        bench.argument(index);
        bench.run();
        return std::pair{bench.outcome, bench.read<u32>(out)};
      };
      for (std::int32_t index : {0, 1, static_cast<std::int32_t>(words - threads)}) {
        auto const [outcome, out] = attempt(index);
        REQUIRE(outcome.ending == Ending::done);
        for (u32 i = 0; i < threads; ++i) REQUIRE(out[i] == (static_cast<u32>(index) + i) * 3 + 1);
      }
      for (auto [index, lane, offset] :
           {std::tuple{-1, 0u, -4ll}, std::tuple{static_cast<int>(words - threads + 1), threads - 1, 4ll * words},
            std::tuple{-3, 0u, -12ll}, std::tuple{static_cast<int>(words), 0u, 4ll * words}}) {
        auto const outcome = attempt(index).first;
        REQUIRE(outcome.ending == Ending::finding);
        Finding const& f = *outcome.finding;
        CHECK(f.kind == Finding::Kind::out_of_bounds);
        CHECK(f.kernel == "k");
        CHECK(f.local_id == Dim3{lane, 0, 0});
        CHECK(f.message ==
              "global load of 4 bytes at offset " + std::to_string(offset) + " of buffer 'in' (4000 bytes)");
        CHECK(f.at.line != 0);
      }
    }
}

TEST_CASE("accesses that share their addresses are checked each by itself") {
  // Three loads by one index: from a, from a a little further, and from the smaller b; `second` and `limit` move them.
  auto attempt = [](std::int32_t displacement, u32 words_of_b, bool pointer) {
    std::string const d = "+" + std::to_string(displacement);
    std::string const arithmetic =
        pointer ? "cvt.u64.u32 %a3, %r0; mul.lo.s64 %a3, %a3, 4; " : "mul.wide.u32 %a3, %r0, 4; ";
    Bench bench(
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out) {\n.reg .b32 %r<8>; .reg .b64 %a<8>;\n"
        "ld.param.u64 %a0, [a]; ld.param.u64 %a1, [b]; ld.param.u64 %a2, [out]; mov.u32 %r0, %tid.x;\n" +
        arithmetic +
        "add.s64 %a4, %a0, %a3; add.s64 %a5, %a1, %a3; add.s64 %a6, %a2, %a3;\n"
        "ld.global.u32 %r1, [%a4];\nld.global.u32 %r2, [%a4" +
        d +
        "];\nld.global.u32 %r3, [%a5];\n"
        "mad.lo.s32 %r4, %r2, 1000, %r1; mad.lo.s32 %r4, %r3, 1000000, %r4; st.global.u32 [%a6], %r4;\nret; }\n");
    bench.launch.block = {48, 1, 1};
    bench.launch.grid = {2, 1, 1};
    std::vector<u32> a(100), b(words_of_b);
    std::iota(a.begin(), a.end(), 0u);
    std::iota(b.begin(), b.end(), 0u);
    bench.buffer("a", a);
    bench.buffer("b", b);
    u64 const out = bench.buffer("out", std::vector<u32>(48, 0));
    bench.run();
    if (!bench.outcome.finding) {
      std::vector<u32> const result = bench.read<u32>(out);
      for (u32 i = 0; i < 48; ++i)
        REQUIRE(result[i] == i + 1000 * (i + static_cast<u32>(displacement) / 4) + 1000000 * i);
      return std::string("fine");
    }
    return std::to_string(bench.outcome.finding->at.line) + ": " + bench.outcome.finding->message;
  };
  for (bool pointer : {false, true}) {
    CHECK(attempt(4, 48, pointer) == "fine");
    CHECK(attempt(208, 48, pointer) == "fine");
    CHECK(attempt(212, 48, pointer) == "9: global load of 4 bytes at offset 400 of buffer 'a' (400 bytes)");
    CHECK(attempt(-4, 48, pointer) == "9: global load of 4 bytes at offset -4 of buffer 'a' (400 bytes)");
    CHECK(attempt(6, 48, pointer) ==
          "9: global load of 4 bytes at offset 6 of buffer 'a' (400 bytes), which is not a multiple of 4");
    CHECK(attempt(4, 47, pointer) == "10: global load of 4 bytes at offset 188 of buffer 'b' (188 bytes)");
  }
}

TEST_CASE("null and stray pointers are findings") {
  for (u64 address : {u64{0}, u64{4}, u64{0x600000000}, ~u64{3}, u64{1} << 47}) {
    Bench bench(
        ".visible .entry k(.param .u64 p) { .reg .b64 %a<4>; .reg .b32 %r<4>;\n ld.param.u64 %a0, [p];\n ld.global.u32 "
        "%r0, [%a0];\n st.global.u32 [%a0], %r0;\n ret; }\n");
    bench.argument(address);
    bench.memory.add("b", 64);
    bench.run();
    REQUIRE(bench.outcome.finding);
    CHECK(bench.outcome.finding->kind == Finding::Kind::out_of_bounds);
    CHECK(bench.outcome.finding->at.line == 6);
  }
}

TEST_CASE("a misaligned access is a finding, an aligned vector is not") {
  auto attempt = [](u32 offset) {
    Bench bench(
        ".visible .entry k(.param .u64 p, .param .u32 o) { .reg .b64 %a<4>; .reg .b32 %r<4>;\n ld.param.u64 %a0, [p]; "
        "ld.param.u32 %r0, [o]; cvt.u64.u32 %a1, %r0; add.s64 %a0, %a0, %a1;\n"
        " ld.global.v2.u32 {%r1, %r2}, [%a0]; ret; }\n");
    bench.buffer("b", 64);
    bench.argument(offset);
    return bench.run();
  };
  CHECK(attempt(8).ending == Ending::done);
  CHECK(attempt(56).ending == Ending::done);
  Outcome const outcome = attempt(12);
  REQUIRE(outcome.finding);
  CHECK(outcome.finding->kind == Finding::Kind::misaligned);
  CHECK(outcome.finding->message ==
        "global load of 8 bytes at offset 12 of buffer 'b' (64 bytes), which is not a multiple of 8");
}

TEST_CASE("a kernel has the shared memory of its module that it and what it calls name") {
  Bench bench(
      ".shared .align 4 .b8 own[16];\n.shared .align 4 .b8 others[4096];\n.shared .align 4 .b8 called[32];\n"
      ".func f() { .reg .b32 %r<2>;\n mov.u32 %r0, called; st.shared.u32 [%r0+28], %r0; ret; }\n"
      ".visible .entry k() { .reg .b32 %r<2>;\n st.shared.u32 [own+12], 1; call f, (); ret; }\n"
      ".visible .entry other() { st.shared.u32 [others], 1; ret; }\n");
  CHECK(bench.program->static_shared_bytes() == 48);
  CHECK(bench.run().ending == Ending::done);
}

TEST_CASE("shared memory is bounded by static and dynamic size") {
  std::string const text =
      ".extern .shared .align 4 .b8 dynamic[];\n.visible .entry k(.param .u32 o) { .reg .b32 %r<4>; .shared .align 4 "
      ".b8 fixed[16];\n ld.param.u32 %r0, [o]; mov.u32 %r1, dynamic; add.s32 %r0, %r0, %r1;\n st.shared.u32 [%r0], "
      "%r1; ret; }\n";
  for (auto [offset, fine] : {std::pair{0u, true}, std::pair{60u, true}, std::pair{64u, false}}) {
    Bench bench(text);
    CHECK(bench.program->static_shared_bytes() == 16);
    bench.launch.dynamic_shared_bytes = 64;
    bench.argument(offset);
    bench.run();
    CHECK((bench.outcome.ending == Ending::done) == fine);
    if (!fine) CHECK(bench.outcome.finding->message == "shared store of 4 bytes at offset 80 (80 bytes)");
  }
}

TEST_CASE("elements of every size load, extend and store") {
  std::vector<unsigned char> bytes(64);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(37 * i + 129);
  struct {
    char const* type;
    char const* reg;
    unsigned size;
    bool sign;
    unsigned out;
  } const cases[] = {{"u8", "%h", 1, false, 2}, {"s8", "%h", 1, true, 2},   {"u8", "%r", 1, false, 4},
                     {"s8", "%r", 1, true, 4},  {"s8", "%a", 1, true, 8},   {"u16", "%h", 2, false, 2},
                     {"s16", "%r", 2, true, 4}, {"u16", "%a", 2, false, 8}, {"u32", "%r", 4, false, 4},
                     {"s32", "%a", 4, true, 8}, {"u32", "%a", 4, false, 8}, {"b64", "%a", 8, false, 8}};
  for (auto const& c : cases) {
    std::string const reg = c.reg + std::string("1"), width = std::to_string(8 * c.out);
    Bench bench(
        ".visible .entry k(.param .u64 in, .param .u64 out) { .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %a<8>; "
        "mov.u32 %r0, %tid.x;\n"
        "ld.param.u64 %a2, [in]; ld.param.u64 %a3, [out]; mul.wide.u32 %a4, %r0, " +
        std::to_string(c.size) +
        "; add.s64 %a4, %a2, %a4; mul.wide.u32 %a5, %r0, 8; add.s64 %a5, %a3, %a5;\n"
        "ld.global." +
        c.type + " " + reg + ", [%a4]; st.global.b" + width + " [%a5], " + reg + "; ret; }\n");
    u32 const lanes = 64 / c.size;
    bench.launch.block = {lanes, 1, 1};
    bench.buffer("in", bytes);
    u64 const out = bench.buffer("out", std::vector<u64>(lanes, 0));
    REQUIRE(bench.run().ending == Ending::done);
    std::vector<u64> const result = bench.read<u64>(out);
    for (u32 lane = 0; lane < lanes; ++lane) {
      u64 value = 0;
      std::memcpy(&value, bytes.data() + lane * c.size, c.size);
      if (c.sign && value >> (8 * c.size - 1) & 1) value |= ~u64{0} << (8 * c.size);
      if (c.out < 8) value &= (u64{1} << (8 * c.out)) - 1;
      INFO(c.type << " in " << c.reg);
      REQUIRE(result[lane] == value);
    }
  }
}

TEST_CASE("contiguous, equal and scattered vectors move the same data") {
  // Lane l copies element f(l) of 16 bytes, for index patterns that take different paths.
  for (std::string const& element : {std::string("u32"), std::string("v2.u32"), std::string("v4.u32"),
                                     std::string("v4.u8"), std::string("v2.f64")}) {
    unsigned const count = element[0] == 'v' ? static_cast<unsigned>(element[1] - '0') : 1;
    std::string const bank = element.ends_with("f64") ? "%a1" : "%r1";
    unsigned const bytes = count * (element.ends_with("u8") ? 1 : element.ends_with("f64") ? 8 : 4);
    std::string list;
    for (unsigned i = 0; i < count; ++i) list += (i ? ", " : "") + bank + std::to_string(i);
    if (count > 1) list = "{" + list + "}";
    std::string const text =
        ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 index) { .reg .b32 %r<20>; .reg .b64 %a<20>; "
        ".reg .pred %p<2>; mov.u32 %r0, %tid.x;\n"
        "ld.param.u64 %a0, [in]; ld.param.u64 %a1, [out]; ld.param.u64 %a2, [index]; mul.wide.u32 %a3, %r0, 4; add.s64 "
        "%a4, %a2, %a3; ld.global.u32 %r2, [%a4];\n"
        "mul.wide.u32 %a5, %r2, " +
        std::to_string(bytes) + "; add.s64 %a6, %a0, %a5; mul.wide.u32 %a7, %r0, " + std::to_string(bytes) +
        "; add.s64 %a8, %a1, %a7;\n"
        "ld.global." +
        element + " " + list + ", [%a6]; st.global." + element + " [%a8], " + list + "; ret; }\n";
    for (int pattern = 0; pattern < 4; ++pattern)
      for (u32 lanes : {64u, 40u}) {
        std::vector<u32> index(lanes);
        for (u32 i = 0; i < lanes; ++i)
          index[i] = pattern == 0 ? i + 3 : pattern == 1 ? 7 : pattern == 2 ? (i * 29) % 70 : i / 16 * 20 + i % 16;
        std::vector<unsigned char> input(100 * bytes);
        for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<unsigned char>(i * 31 + i / 256);
        Bench bench(text);
        bench.launch.block = {lanes, 1, 1};
        bench.buffer("in", input);
        u64 const out = bench.buffer("out", std::vector<unsigned char>(lanes * bytes));
        bench.buffer("index", index);
        REQUIRE(bench.run().ending == Ending::done);
        std::vector<unsigned char> expected;
        for (u32 i : index) expected.insert(expected.end(), input.begin() + i * bytes, input.begin() + (i + 1) * bytes);
        REQUIRE(bench.read<unsigned char>(out) == expected);
      }
  }
}

TEST_CASE("generic addresses reach global, shared and local memory, in one access") {
  Bench bench(
      ".visible .entry k(.param .u64 g, .param .u64 out) { .reg .b32 %r<8>; .reg .b64 %a<16>; .reg .pred %p<4>; "
      ".shared .align 4 .b8 s[128]; .local .align 4 .b8 l[8];\n"
      "mov.u32 %r0, %tid.x; ld.param.u64 %a0, [g]; ld.param.u64 %a1, [out]; cvta.to.global.u64 %a1, %a1;\n"
      "mul.wide.u32 %a2, %r0, 4; mov.u64 %a3, s; cvta.shared.u64 %a3, %a3; add.s64 %a3, %a3, %a2; mov.u64 %a4, l; "
      "cvta.local.u64 %a4, %a4; add.s64 %a5, %a0, %a2;\n"
      "rem.u32 %r1, %r0, 3; setp.eq.u32 %p0, %r1, 0; setp.eq.u32 %p1, %r1, 1; selp.b64 %a6, %a3, %a4, %p0; selp.b64 "
      "%a6, %a5, %a6, %p1;\n"
      "add.s32 %r2, %r0, 100; st.u32 [%a6], %r2; ld.u32 %r3, [%a6]; isspacep.shared %p2, %a6; selp.b32 %r4, 1000, 0, "
      "%p2; add.s32 %r3, %r3, %r4;\n"
      "add.s64 %a7, %a1, %a2; st.global.u32 [%a7], %r3; ret; }\n");
  u64 const g = bench.buffer("g", std::vector<u32>(32, 0));
  u64 const out = bench.buffer("out", std::vector<u32>(32, 0));
  Log log;
  Observer* observers[] = {&log};
  REQUIRE(bench.run(observers).ending == Ending::done);
  for (u32 i = 0; i < 32; ++i) {
    CHECK(bench.read<u32>(out)[i] == 100 + i + (i % 3 == 0 ? 1000 : 0));
    CHECK(bench.read<u32>(g)[i] == (i % 3 == 1 ? 100 + i : 0));
  }
  std::multiset<std::string> spaces;
  for (MemoryAccess const& a : log.accesses) spaces.insert(std::string(ptx::name(a.space)));
  CHECK(spaces == std::multiset<std::string>{"global", "global", "global", "local", "local", "shared", "shared"});
}

TEST_CASE("module variables are initialised and keep their values from launch to launch") {
  Bench bench(
      ".const .align 4 .u32 table[4] = {10, 20, 30, 40};\n.global .align 4 .u32 total = 5;\n"
      ".visible .entry k(.param .u64 out) { .reg .b32 %r<8>; .reg .b64 %a<8>; ld.param.u64 %a0, [out];\n"
      "mov.u32 %r0, %tid.x; and.b32 %r0, %r0, 3; mul.wide.u32 %a1, %r0, 4; mov.u64 %a2, table; add.s64 %a2, %a2, %a1; "
      "ld.const.u32 %r1, [%a2];\n"
      "atom.global.add.u32 %r2, [total], %r1; ld.const.u32 %r3, [table+8]; add.s32 %r2, %r2, %r3; st.global.u32 [%a0], "
      "%r2; ret; }\n");
  u64 const out = bench.buffer("out", 4);
  CHECK(bench.program->order_dependent());
  bench.launch.block = {4, 1, 1};
  bench.run();
  CHECK(bench.read<u32>(out)[0] == 5 + 10 + 20 + 30 + 30);  // lane 3 saw the sum of the lanes before, and stores last
  bench.run();
  CHECK(bench.read<u32>(out)[0] == 105 + 10 + 20 + 30 + 30);
}

TEST_CASE("atomics take their turn in lane order") {
  struct {
    char const* op;
    char const* type;
    u32 start, operand, final;
  } const cases[] = {{"add", "u32", 7, 2, 7 + 64},     {"inc", "u32", 0, 9, 32 % 10},
                     {"dec", "u32", 0, 9, 8},          {"exch", "b32", 1, 5, 5},
                     {"max", "s32", 0xffffffff, 3, 3}, {"min", "s32", 4, 0xfffffffe, 0xfffffffe},
                     {"min", "u32", 4, 0xfffffffe, 4}, {"or", "b32", 1, 6, 7},
                     {"and", "b32", 13, 7, 5},         {"xor", "b32", 3, 5, 3}};
  for (auto const& c : cases)
    for (bool shared : {false, true}) {
      std::string const space = shared ? "shared" : "global", address = shared ? "[s]" : "[%a0]",
                        name = std::string(c.op) + "." + c.type;
      Bench bench(
          ".visible .entry k(.param .u64 p, .param .u32 x) { .reg .b32 %r<8>; .reg .b64 %a<4>; .shared .align 4 .b32 "
          "s; ld.param.u64 %a0, [p]; ld.param.u32 %r0, [x]; ld.global.u32 %r1, [%a0];\n"
          "st.shared.u32 [s], %r1; bar.sync 0; atom." +
          space + "." + name + " %r2, " + address + ", %r0; bar.sync 0; " +
          (shared ? "ld.shared.u32 %r3, [s]; st.global.u32 [%a0], %r3; " : "") + "ret; }\n");
      u64 const p = bench.buffer("p", std::vector<u32>{c.start});
      bench.argument(c.operand);
      REQUIRE(bench.run().ending == Ending::done);
      INFO(name << " " << space);
      CHECK(bench.read<u32>(p)[0] == c.final);
      // The result is not read: only what does not commute needs groups in order.
      std::string_view const op = c.op;
      CHECK(bench.program->order_dependent() == (!shared && (op == "inc" || op == "dec" || op == "exch")));
    }
}

// `updates` on the counters at %a0 by what the work-item has read into %r4; one launch on one and on three threads.
void check_order(std::string const& updates, bool ordered) {
  INFO(updates);
  std::vector<std::vector<u32>> results;
  for (unsigned threads : {1u, 3u}) {
    Bench bench(
        ".visible .entry k(.param .u64 p) { .reg .b32 %r<12>; .reg .b64 %a<4>; .reg .pred %p<2>; ld.param.u64 %a0, "
        "[p];\n"
        "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 64, %r0; mov.u32 %r3, 0;\n"
        "L: mad.lo.u32 %r2, %r2, 1664525, 1013904223; shr.u32 %r4, %r2, 26; mul.wide.u32 %a1, %r4, 4;\n"
        "add.s64 %a1, %a0, %a1; " +
        updates + " add.u32 %r3, %r3, 1; setp.lt.u32 %p0, %r3, 40; @%p0 bra L; ret; }\n");
    CHECK(bench.program->order_dependent() == ordered);
    bench.launch.grid = {700, 1, 1};
    bench.launch.block = {64, 1, 1};
    u64 const p = bench.buffer("p", std::vector<u32>(64));
    REQUIRE(bench.run({}, {}, threads).ending == Ending::done);
    results.push_back(bench.read<u32>(p));
  }
  CHECK(results[0] == results[1]);
  CHECK(std::accumulate(results[0].begin(), results[0].end(), u64{0}) != 0);
}

TEST_CASE("updates that commute run on several threads, others in the order of the groups") {
  for (std::string const op : {"add.u32", "max.u32", "xor.b32"}) {
    check_order("red.global." + op + " [%a1], %r2;", false);
    check_order("atom.global." + op + " %r7, [%a1], %r2;", false);  // %r7 is never read
    check_order("atom.global." + op + " _, [%a1], %r2;", false);
  }
  check_order("red.global.add.u32 [%a1], 1; red.global.add.s32 [%a1], 2;", false);
  check_order("red.global.add.u32 [%a1], %r2; red.global.max.u32 [%a1], %r2;", true);
  check_order("atom.global.add.u32 %r5, [%a1], %r2; add.u32 %r6, %r6, %r5;", true);
  check_order("red.global.release.gpu.add.u32 [%a1], %r2;", true);
  check_order("mov.b32 %r7, 0f3f8ccccd; red.global.add.f32 [%a1], %r7;", true);
}

TEST_CASE("lanes meet where their ways join, wherever the text has the body") {
  // The body of the `if` stands behind the barrier that follows it, and behind the loop's end.
  struct Barriers : Observer {
    unsigned full = 0, partial = 0;
    void barrier(u32, Lanes const& lanes, u32, u32) override { ++(lanes.full ? full : partial); }
    std::unique_ptr<Observer> fork() const override { return std::make_unique<Barriers>(); }
    void join(Observer const&) override {}
  } seen;
  Bench bench(
      ".visible .entry k() { .reg .b32 %r<8>; .reg .pred %p<4>; mov.u32 %r0, %tid.x; mov.u32 %r1, 32;\n"
      "L: setp.lt.u32 %p0, %r0, %r1; @%p0 bra BODY;\n"
      "NEXT: bar.sync 0; shr.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L; ret;\n"
      "BODY: add.u32 %r2, %r2, 1; bra NEXT; }\n");
  bench.launch.block = {64, 1, 1};
  std::vector<Observer*> const observers = {&seen};
  REQUIRE(bench.run(observers).ending == Ending::done);
  CHECK(seen.full == 6);
  CHECK(seen.partial == 0);
  // Two warps execute the start, six turns of the loop and the end; one the body.
  CHECK(bench.outcome.warp_instructions == 2 * (2 + 6 * (2 + 4) + 1) + 6 * 2);
}

TEST_CASE("a barrier holds the group until all have come or left") {
  // Warps write, wait, and read what another warp wrote; the last lanes leave before the barrier.
  for (u32 threads : {64u, 256u, 512u, 1000u}) {
    Bench bench(
        ".visible .entry k(.param .u64 out, .param .u32 stay) { .reg .b32 %r<8>; .reg .b64 %a<4>; .reg .pred %p<4>; "
        ".shared .align 4 .b8 s[4096];\n"
        "mov.u32 %r0, %tid.x; ld.param.u32 %r1, [stay]; shl.b32 %r2, %r0, 2; mov.u32 %r3, s; add.s32 %r2, %r2, %r3; "
        "mul.lo.s32 %r4, %r0, 3; st.shared.u32 [%r2], %r4;\n"
        "setp.ge.u32 %p0, %r0, %r1; @%p0 exit; bar.sync 0; sub.s32 %r5, %r1, %r0; shl.b32 %r5, %r5, 2; add.s32 %r5, "
        "%r5, %r3; ld.shared.u32 %r6, [%r5+-4];\n"
        "ld.param.u64 %a0, [out]; mul.wide.u32 %a1, %r0, 4; add.s64 %a0, %a0, %a1; st.global.u32 [%a0], %r6; ret; }\n");
    bench.launch.block = {threads, 1, 1};
    u32 const stay = threads - 10;
    u64 const out = bench.buffer("out", std::vector<u32>(threads, 7));
    bench.argument(stay);
    Log log;
    Observer* observers[] = {&log};
    REQUIRE(bench.run(observers).ending == Ending::done);
    std::vector<u32> const result = bench.read<u32>(out);
    for (u32 i = 0; i < threads; ++i) REQUIRE(result[i] == (i < stay ? (stay - i - 1) * 3 : 7));
    u32 arrived = 0;
    for (u32 n : log.barriers) arrived += n;
    CHECK(arrived == stay);
  }
}

TEST_CASE("producers and consumers meet at a named barrier") {
  // Warp 0 fills shared memory and arrives; warp 1 waits for it and reads.
  Bench bench(
      ".visible .entry k(.param .u64 out) { .reg .b32 %r<8>; .reg .b64 %a<4>; .reg .pred %p<4>; .shared .align 4 .b8 "
      "s[128];\n"
      "mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; shl.b32 %r1, %r1, 2; mov.u32 %r2, s; add.s32 %r1, %r1, %r2; "
      "setp.lt.u32 %p0, %r0, 32; @%p0 bra PRODUCE;\n"
      "bar.sync 1, 64; ld.shared.u32 %r3, [%r1]; ld.param.u64 %a0, [out]; mul.wide.u32 %a1, %r0, 4; add.s64 %a0, %a0, "
      "%a1; st.global.u32 [%a0], %r3; ret;\n"
      "PRODUCE: add.s32 %r4, %r0, 50; st.shared.u32 [%r1], %r4; bar.arrive 1, 64; ret; }\n");
  bench.launch.block = {64, 1, 1};
  u64 const out = bench.buffer("out", std::vector<u32>(64, 0));
  REQUIRE(bench.run().ending == Ending::done);
  for (u32 i = 0; i < 32; ++i) CHECK(bench.read<u32>(out)[32 + i] == 50 + i);
}

TEST_CASE("bar.red counts over the group") {
  Bench bench(
      ".visible .entry k(.param .u64 out) { .reg .b32 %r<8>; .reg .b64 %a<4>; .reg .pred %p<4>; mov.u32 %r0, %tid.x; "
      "rem.u32 %r1, %r0, 3; setp.eq.u32 %p0, %r1, 0;\n"
      "bar.red.popc.u32 %r2, 0, %p0; bar.red.and.pred %p1, 0, %p0; bar.red.or.pred %p2, 0, !%p0; selp.b32 %r3, 1000, "
      "0, %p1; selp.b32 %r4, 2000, 0, %p2; add.s32 %r2, %r2, %r3; add.s32 %r2, %r2, %r4;\n"
      "ld.param.u64 %a0, [out]; mul.wide.u32 %a1, %r0, 4; add.s64 %a0, %a0, %a1; st.global.u32 [%a0], %r2; ret; }\n");
  bench.launch.block = {300, 1, 1};
  u64 const out = bench.buffer("out", std::vector<u32>(300, 0));
  REQUIRE(bench.run().ending == Ending::done);
  CHECK(bench.read<u32>(out) == std::vector<u32>(300, 100 + 2000));
}

TEST_CASE("lanes of a warp at different barriers are a finding that names both") {
  Bench bench(
      ".visible .entry k() { .reg .b32 %r<4>; .reg .pred %p<2>; mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 7; @%p0 bra "
      "A;\nbar.sync 0;\nret;\nA: bar.sync 0;\nret; }\n");
  bench.run();
  REQUIRE(bench.outcome.finding);
  CHECK(bench.outcome.finding->kind == Finding::Kind::divergent_barrier);
  CHECK_THAT(bench.outcome.finding->message, Contains("test.ptx:5") && Contains("test.ptx:7"));
}

TEST_CASE("a barrier that never fills is a deadlock") {
  Bench bench(".visible .entry k() { bar.sync 2, 96; ret; }\n");
  bench.launch.block = {64, 1, 1};
  bench.run();
  REQUIRE(bench.outcome.finding);
  CHECK(bench.outcome.finding->kind == Finding::Kind::deadlock);
}

TEST_CASE("an unknown opcode is refused only where it is reached") {
  std::string const text =
      ".visible .entry k(.param .u32 x) { .reg .b32 %r<4>; .reg .pred %p<2>; ld.param.u32 %r0, [x]; setp.eq.u32 %p0, "
      "%r0, 0; @%p0 bra OUT;\nfrob.u32 %r1, %r0;\nOUT: ret; }\n";
  for (u32 x : {0u, 1u}) {
    Bench bench(text);
    bench.argument(x);
    bench.run();
    CHECK(bench.outcome.finding.has_value() == (x == 1));
    if (x == 0) continue;
    CHECK(bench.outcome.finding->kind == Finding::Kind::unknown_opcode);
    CHECK(bench.outcome.finding->at.line == 5);
    CHECK_THAT(bench.outcome.finding->message, Contains("frob.u32"));
  }
}

TEST_CASE("an endless loop stops at the step limit and at the time limit") {
  std::string const text =
      ".visible .entry k() { .reg .b32 %r<2>; mov.u32 %r0, 0;\nL: add.s32 %r0, %r0, 1;\nbra L; }\n";
  {
    Bench bench(text);
    bench.run({}, {.max_steps = 10000});
    CHECK(bench.outcome.ending == Ending::step_limit);
    CHECK(bench.outcome.warp_instructions <= 10000);  // it stops before the block that would pass the limit
    CHECK(bench.outcome.warp_instructions > 9990);
    CHECK(bench.outcome.warp_instructions < 10010);
    REQUIRE(bench.outcome.finding);
    CHECK(bench.outcome.finding->at.line == 5);
  }
  Bench bench(text);
  bench.run({}, {.timeout_s = 0.01});
  CHECK(bench.outcome.ending == Ending::time_limit);
}

TEST_CASE("events tell addresses, branches, guards and lanes") {
  Bench bench(
      ".visible .entry k(.param .u64 p) { .reg .b32 %r<4>; .reg .b64 %a<4>; .reg .pred %p<2>; mov.u32 %r0, %tid.x; "
      "ld.param.u64 %a0, [p]; mul.wide.u32 %a1, %r0, 12; add.s64 %a0, %a0, %a1; setp.lt.u32 %p0, %r0, 5;\n"
      "@%p0 st.global.u32 [%a0], %r0; @!%p0 bra OUT; ld.global.u32 %r1, [%a0];\nOUT: ret; }\n");
  bench.launch.block = {40, 1, 1};
  u64 const p = bench.buffer("p", 4000);
  Log log;
  Observer* observers[] = {&log};
  REQUIRE(bench.run(observers).ending == Ending::done);
  CHECK(log.guards == std::vector<u32>{5});
  CHECK(log.branches == std::vector<u32>{35});
  CHECK(log.block_lanes == std::vector<u32>{40, 5, 40});
  REQUIRE(log.addresses.size() == 2);
  std::vector<u64> expected;
  for (u64 i = 0; i < 5; ++i) expected.push_back(p + 12 * i);
  CHECK(log.addresses[0] == expected);
  CHECK(log.addresses[1] == expected);
  CHECK(log.accesses[0].direction == Direction::store);
  CHECK(log.accesses[0].bytes_per_lane == 4);
  CHECK(bench.outcome.warp_instructions == 2 * 7 + 1 + 2);
}

TEST_CASE("shuffles and votes work within a warp") {
  Bench bench(
      ".visible .entry k(.param .u64 out) { .reg .b32 %r<16>; .reg .b64 %a<4>; .reg .pred %p<4>; mov.u32 %r0, %tid.x; "
      "mul.lo.s32 %r1, %r0, 10;\n"
      "shfl.sync.down.b32 %r2|%p0, %r1, 1, 31, -1; shfl.sync.bfly.b32 %r3, %r1, 4, 31, -1; shfl.sync.idx.b32 %r4, %r1, "
      "3, 0x181f, -1; setp.lt.u32 %p1, %r0, 9; vote.sync.ballot.b32 %r5, %p1, -1; selp.b32 %r6, 1, 0, %p0;\n"
      "ld.param.u64 %a0, [out]; mul.wide.u32 %a1, %r0, 20; add.s64 %a0, %a0, %a1; st.global.u32 [%a0], %r2; "
      "st.global.u32 [%a0+4], %r3; st.global.u32 [%a0+8], %r4; st.global.u32 [%a0+12], %r5; st.global.u32 [%a0+16], "
      "%r6; ret; }\n");
  u64 const out = bench.buffer("out", 32 * 20);
  REQUIRE(bench.run().ending == Ending::done);
  std::vector<u32> const r = bench.read<u32>(out);
  for (u32 i = 0; i < 32; ++i) {
    CHECK(r[5 * i] == (i < 31 ? i + 1 : i) * 10);
    CHECK(r[5 * i + 1] == (i ^ 4) * 10);
    CHECK(r[5 * i + 2] == (i / 8 * 8 + 3) * 10);
    CHECK(r[5 * i + 3] == 0x1ff);
    CHECK(r[5 * i + 4] == (i < 31));
  }
}

TEST_CASE("carries run through add.cc, addc and madc") {
  // 128-bit sum and difference and a 64-bit product in 32-bit limbs.
  Bench bench(
      ".visible .entry k(.param .u64 in, .param .u64 out) { .reg .b32 %r<24>; .reg .b64 %a<4>; ld.param.u64 %a0, [in]; "
      "ld.param.u64 %a1, [out];\n"
      "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%a0]; ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%a0+16];\n"
      "add.cc.u32 %r8, %r0, %r4; addc.cc.u32 %r9, %r1, %r5; addc.cc.u32 %r10, %r2, %r6; addc.u32 %r11, %r3, %r7;\n"
      "sub.cc.u32 %r12, %r0, %r4; subc.cc.u32 %r13, %r1, %r5; subc.cc.u32 %r14, %r2, %r6; subc.u32 %r15, %r3, %r7;\n"
      "mul.lo.u32 %r16, %r0, %r4; mul.hi.u32 %r17, %r0, %r4; mad.lo.cc.u32 %r17, %r1, %r4, %r17; madc.hi.u32 %r18, "
      "%r1, %r4, 0; \n"
      "st.global.v4.u32 [%a1], {%r8, %r9, %r10, %r11}; st.global.v4.u32 [%a1+16], {%r12, %r13, %r14, %r15}; "
      "st.global.v4.u32 [%a1+32], {%r16, %r17, %r18, %r18}; ret; }\n");
  bench.launch.block = {1, 1, 1};
  __extension__ typedef unsigned __int128 u128;
  std::vector<u64> const in = {0xfffffffffffffff1, 0x0123456789abcdef, 0x00000000ffffffff, 0xfedcba9876543210};
  bench.buffer("in", in);
  u64 const out = bench.buffer("out", 48);
  REQUIRE(bench.run().ending == Ending::done);
  std::vector<u64> const r = bench.read<u64>(out);
  u128 const a = static_cast<u128>(in[1]) << 64 | in[0], b = static_cast<u128>(in[3]) << 64 | in[2];
  CHECK(r[0] == static_cast<u64>(a + b));
  CHECK(r[1] == static_cast<u64>((a + b) >> 64));
  CHECK(r[2] == static_cast<u64>(a - b));
  CHECK(r[3] == static_cast<u64>((a - b) >> 64));
  u128 const product = static_cast<u128>(in[0]) * (in[2] & 0xffffffff);
  CHECK(r[4] == static_cast<u64>(product));
  CHECK((r[5] & 0xffffffff) == static_cast<u64>(product >> 64));
}

TEST_CASE("all instruction-set levels and thread counts give the same bits") {
  std::string const text =
      ".visible .entry k(.param .u64 in, .param .u64 out) { .reg .b32 %r<16>; .reg .f32 %f<16>; .reg .f64 %d<4>; .reg "
      ".b64 %a<8>; .reg .pred %p<4>;\n"
      "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.s32 %r3, %r1, %r2, %r0; ld.param.u64 "
      "%a0, [in]; ld.param.u64 %a1, [out]; mul.wide.u32 %a2, %r3, 4; add.s64 %a3, %a0, %a2; add.s64 %a4, %a1, %a2;\n"
      "ld.global.f32 %f0, [%a3]; mov.f32 %f1, 0f3F800000; mov.u32 %r4, 0; and.b32 %r5, %r0, 15;\n"
      "L: fma.rn.f32 %f1, %f1, %f0, 0f3DCCCCCD; sqrt.rn.f32 %f2, %f1; div.rn.f32 %f3, %f0, %f2; add.rm.f32 %f1, %f3, "
      "%f0; sin.approx.f32 %f4, %f1; add.f32 %f1, %f1, %f4; cvt.f64.f32 %d0, %f1; cvt.rz.f32.f64 %f1, %d0;\n"
      "add.s32 %r4, %r4, 1; setp.le.u32 %p0, %r4, %r5; @%p0 bra L; st.global.f32 [%a4], %f1; ret; }\n";
  std::vector<u32> input(64 * 128);
  Random random{5};
  for (u32& x : input) x = static_cast<u32>(random());  // NaN and infinities included
  std::vector<u32> first;
  u64 instructions = 0;
  std::string const before(isa_level());
  for (std::string const& level : isa_levels())
    for (unsigned threads : {1u, 3u}) {
      use_isa_level(level);
      Bench bench(text);
      bench.launch.block = {128, 1, 1};
      bench.launch.grid = {64, 1, 1};
      bench.buffer("in", input);
      u64 const out = bench.buffer("out", input.size() * 4);
      REQUIRE(bench.run({}, {}, threads).ending == Ending::done);
      std::vector<u32> const result = bench.read<u32>(out);
      if (first.empty()) {
        first = result;
        instructions = bench.outcome.warp_instructions;
      }
      INFO(level << ", " << threads << " threads");
      CHECK(result == first);
      CHECK(bench.outcome.warp_instructions == instructions);
    }
  use_isa_level(before);
  CHECK_THROWS_AS(use_isa_level("v9"), Error);
}

TEST_CASE("with threads the finding of the first group is reported") {
  Bench bench(
      ".visible .entry k(.param .u64 p) { .reg .b32 %r<4>; .reg .b64 %a<4>; mov.u32 %r0, %ctaid.x; ld.param.u64 %a0, "
      "[p]; mul.wide.u32 %a1, %r0, 4; add.s64 %a0, %a0, %a1; ld.global.u32 %r1, [%a0]; ret; }\n");
  bench.launch.grid = {1000, 1, 1};
  bench.buffer("p", 4 * 301);
  bench.run({}, {}, 4);
  REQUIRE(bench.outcome.finding);
  CHECK(bench.outcome.finding->group == 301);
}

TEST_CASE("launches that cannot be are refused with a hint") {
  Bench bench(".visible .entry k(.param .u64 p) { ret; }\n");
  CHECK_THROWS_AS(bench.run(), Error);  // an argument is missing
  bench.argument(u64{0});
  bench.launch.block = {1025, 1, 1};
  CHECK_THROWS_AS(bench.run(), Error);
  bench.launch.block = {0, 1, 1};
  CHECK_THROWS_AS(bench.run(), Error);
  Memory small(4096);
  small.add("a", 4000);
  CHECK_THROWS_AS(small.add("b", 97), Error);
}

}  // namespace kernelcast::emu::test
