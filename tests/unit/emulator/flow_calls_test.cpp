// Calls that are executed: recursion, function pointers, stacks; and what the device's library does for a kernel.

#include "catch.hpp"
#include "harness.hpp"

namespace kernelcast::emu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// k(u32* out): out[i] = %r9 after `body`, where %r1 is the work-item's number in the grid.
std::string calling(std::string const& declarations, std::string const& body) {
  return declarations + R"(
.visible .entry k(.param .u64 out)
{ .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .f64 %fd<8>; .reg .b64 %rd<16>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;
)" + body +
         R"(
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r9;
  ret; }
)";
}

struct Run {
  Outcome outcome;
  std::vector<u32> out;
  std::string printed;
  std::string message() const { return outcome.finding ? outcome.finding->message : ""; }
};

Run run(std::string const& text, u32 size = 32, u32 groups = 1, unsigned threads = 1, u32 stack_bytes = 65536) {
  Bench b(text);
  b.launch.block = {size, 1, 1};
  b.launch.grid = {groups, 1, 1};
  b.launch.stack_bytes = stack_bytes;
  Run result;
  b.launch.print = [&](std::string_view printed) { result.printed += printed; };
  u64 const out = b.buffer("out", std::vector<u32>(std::size_t{size} * groups, 0xdeadbeef));
  result.outcome = b.run({}, {10'000'000, 0, 0}, threads);
  result.out = b.read<u32>(out);
  return result;
}
std::vector<u32> results(std::string const& text, u32 size = 32, u32 groups = 1) {
  Run const r = run(text, size, groups);
  INFO(r.message());
  REQUIRE(r.outcome.ending == Ending::done);
  return r.out;
}

constexpr char const* fibonacci = R"(
.func (.param .b32 result) fib(.param .b32 n)
{ .reg .pred %p<2>; .reg .b32 %r<8>;
  ld.param.u32 %r1, [n];
  setp.gt.u32 %p1, %r1, 1;
  @%p1 bra MORE;
  st.param.b32 [result], %r1;
  ret;
MORE:
  sub.u32 %r2, %r1, 1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), fib, (a); ld.param.b32 %r3, [b]; }
  sub.u32 %r4, %r1, 2;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r4; call.uni (b), fib, (a); ld.param.b32 %r5, [b]; }
  add.u32 %r6, %r3, %r5;
  st.param.b32 [result], %r6;
  ret; }
)";
u32 fib(u32 n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

}  // namespace

TEST_CASE("recursion diverges by lane") {
  for (u32 size : {1u, 32u, 100u, 512u}) {
    auto const got = results(calling(fibonacci, R"(
  rem.u32 %r4, %r1, 13;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r4; call.uni (b), fib, (a); ld.param.b32 %r9, [b]; }
)"),
                             size, 2);
    for (u32 i = 0; i < 2 * size; ++i) CHECK(got[i] == fib(i % 13));
  }
}

TEST_CASE("functions that call each other, some lanes not at all") {
  auto const got = results(calling(R"(
.func (.param .b32 result) odd(.param .b32 n);
.func (.param .b32 result) even(.param .b32 n)
{ .reg .pred %p<2>; .reg .b32 %r<8>;
  ld.param.u32 %r1, [n];
  setp.eq.u32 %p1, %r1, 0; mov.u32 %r3, 1;
  @%p1 bra END;
  sub.u32 %r2, %r1, 1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), odd, (a); ld.param.b32 %r3, [b]; }
END:
  st.param.b32 [result], %r3;
  ret; }
.func (.param .b32 result) odd(.param .b32 n)
{ .reg .pred %p<2>; .reg .b32 %r<8>;
  ld.param.u32 %r1, [n];
  setp.ne.u32 %p1, %r1, 0; mov.u32 %r3, 0;
  sub.u32 %r2, %r1, 1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; @%p1 call (b), even, (a); @%p1 ld.param.b32 %r3, [b]; }
  st.param.b32 [result], %r3;
  ret; }
)",
                                   R"(
  mov.u32 %r9, 77; setp.lt.u32 %p1, %r1, 20;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; @%p1 call (b), even, (a); @%p1 ld.param.b32 %r9, [b]; }
)"));
  for (u32 i = 0; i < 32; ++i) CHECK(got[i] == (i >= 20 ? 77 : i % 2 == 0));
}

TEST_CASE("a recursive function keeps its variables, its registers and what it points to") {
  // f(n, p): box[2] on its own frame; the callee adds to the caller's box through p.
  auto const got = results(calling(R"(
.func (.param .b64 result) f(.param .b32 n, .param .b64 p)
{ .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<16>; .local .align 8 .b8 box[16];
  ld.param.u32 %r1, [n]; ld.param.u64 %rd1, [p];
  mov.u64 %rd2, box; cvta.local.u64 %rd3, %rd2;
  cvt.u64.u32 %rd4, %r1;
  st.u64 [%rd3], %rd4; st.local.u64 [box+8], 0;
  ld.u64 %rd5, [%rd1]; add.u64 %rd5, %rd5, %rd4; st.u64 [%rd1], %rd5;
  setp.eq.u32 %p1, %r1, 0; mov.u64 %rd6, 0;
  @%p1 bra END;
  sub.u32 %r2, %r1, 1; add.u64 %rd7, %rd3, 8;
  { .param .b32 a; .param .b64 q; .param .b64 b; st.param.b32 [a], %r2; st.param.b64 [q], %rd7;
    call.uni (b), f, (a, q); ld.param.b64 %rd6, [b]; }
END:
  ld.local.u64 %rd8, [box]; ld.local.u64 %rd9, [box+8];
  mul.lo.u64 %rd10, %rd8, 100; add.u64 %rd11, %rd10, %rd9; add.u64 %rd12, %rd11, %rd6;
  st.param.b64 [result], %rd12;
  ret; }
)",
                                   R"(
  { .local .align 8 .b8 mine[8]; .param .b32 a; .param .b64 q; .param .b64 b;
    st.local.u64 [mine], 0; mov.u64 %rd4, mine; cvta.local.u64 %rd5, %rd4;
    and.b32 %r4, %r1, 7;
    st.param.b32 [a], %r4; st.param.b64 [q], %rd5; call.uni (b), f, (a, q); ld.param.b64 %rd6, [b];
    ld.local.u64 %rd7, [mine]; mul.lo.u64 %rd7, %rd7, 10000; add.u64 %rd6, %rd6, %rd7;
    cvt.u32.u64 %r9, %rd6; }
)"),
                           256);
  for (u32 i = 0; i < 256; ++i) {
    u32 const n = i % 8;
    u32 sum = 0;
    for (u32 m = 0; m <= n; ++m) sum += 100 * m + (m ? m - 1 : 0);
    CHECK(got[i] == sum + 10000 * n);
  }
}

namespace {
constexpr char const* operations = R"(
.func (.param .b32 r) plus(.param .b32 a, .param .b32 b)
{ .reg .b32 %r<4>; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; add.u32 %r3, %r1, %r2; st.param.b32 [r], %r3; ret; }
.func (.param .b32 r) times(.param .b32 a, .param .b32 b)
{ .reg .b32 %r<4>; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; mul.lo.u32 %r3, %r1, %r2; st.param.b32 [r], %r3; ret; }
.func (.reg .u32 r) minus(.reg .u32 a, .reg .u32 b) { sub.u32 r, a, b; ret; }
.global .align 8 .u64 table[3] = {plus, times, minus};
)";
constexpr char const* indirect = R"(
  { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r1; st.param.b32 [b], 7;
    P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
    call (c), %rd6, (a, b), P;
    ld.param.b32 %r9, [c]; }
)";
}  // namespace

TEST_CASE("functions are called through a table, by one lane this and by another that") {
  auto const got = results(calling(operations, std::string(R"(
  rem.u32 %r4, %r1, 3; mul.wide.u32 %rd4, %r4, 8; mov.u64 %rd5, table; add.u64 %rd5, %rd5, %rd4; ld.global.u64 %rd6, [%rd5];
)") + indirect),
                           100);
  for (u32 i = 0; i < 100; ++i) CHECK(got[i] == (i % 3 == 0 ? i + 7 : i % 3 == 1 ? i * 7 : i - 7));
  // An address in a register, chosen by a predicate; registers as arguments.
  auto const chosen = results(calling(operations, R"(
  mov.u64 %rd4, plus; mov.u64 %rd5, minus; setp.lt.u32 %p1, %r1, 9; selp.b64 %rd6, %rd4, %rd5, %p1;
  P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
  call (%r9), %rd6, (%r1, 3), P;
)"));
  for (u32 i = 0; i < 32; ++i) CHECK(chosen[i] == (i < 9 ? i + 3 : i - 3));
  Run const nowhere = run(calling(operations, std::string("  mov.u64 %rd6, 4096;\n") + indirect));
  CHECK(nowhere.outcome.finding->kind == Finding::Kind::trap);
  CHECK(nowhere.message() == "call of address 4096, where no function begins");
}

TEST_CASE("a barrier within a function that some reach by recursion") {
  // down(n) recurses n times and then waits for all; each has written its number before.
  auto const got = results(calling(R"(
.shared .u32 box[64];
.func (.param .b32 r) down(.param .b32 n, .param .b32 i)
{ .reg .pred %p<2>; .reg .b32 %r<8>;
  ld.param.u32 %r1, [n]; ld.param.u32 %r2, [i];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra MEET;
  sub.u32 %r3, %r1, 1;
  { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r3; st.param.b32 [b], %r2;
    call.uni (c), down, (a, b); ld.param.b32 %r4, [c]; }
  st.param.b32 [r], %r4;
  ret;
MEET:
  shl.b32 %r5, %r2, 2; mov.u32 %r6, box; add.u32 %r5, %r5, %r6; st.shared.u32 [%r5], %r2;
  barrier.sync 0;
  xor.b32 %r5, %r2, 63; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r6; ld.shared.u32 %r4, [%r5];
  st.param.b32 [r], %r4;
  ret; }
)",
                                   R"(
  and.b32 %r4, %r1, 3;
  { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r4; st.param.b32 [b], %r1;
    call.uni (c), down, (a, b); ld.param.b32 %r9, [c]; }
)"),
                           64);
  for (u32 i = 0; i < 64; ++i) CHECK(got[i] == (i ^ 63));
}

TEST_CASE("lanes that exit within a call are gone, the others return together") {
  auto const got = results(calling(R"(
.func (.param .b32 r) maybe(.param .b32 n)
{ .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<2>;
  ld.param.u32 %r1, [n]; and.b32 %r2, %r1, 3; setp.eq.u32 %p1, %r2, 2;
  @%p1 exit;
  mov.u64 %rd1, maybe;
  setp.lt.u32 %p1, %r1, 1000; @%p1 bra END;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], 0; call.uni (b), maybe, (a); ld.param.b32 %r1, [b]; }
END:
  st.param.b32 [r], %r1; }
)",
                                   R"(
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), maybe, (a); ld.param.b32 %r4, [b]; }
  activemask.b32 %r5; popc.b32 %r6, %r5; mad.lo.u32 %r9, %r6, 1000, %r4;
)"));
  for (u32 i = 0; i < 32; ++i) CHECK(got[i] == (i % 4 == 2 ? 0xdeadbeef : 24000 + i));
}

TEST_CASE("the stack ends") {
  std::string const text = calling(R"(
.func (.param .b32 r) down(.param .b32 n)
{ .reg .pred %p<2>; .reg .b32 %r<8>; .local .b8 room[400];
  ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 0; @%p1 bra END;
  sub.u32 %r2, %r1, 1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), down, (a); ld.param.b32 %r3, [b]; }
END:
  st.param.b32 [r], %r1;
  ret; }
)",
                                   R"(
  add.u32 %r4, %r1, 90;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r4; call.uni (b), down, (a); ld.param.b32 %r9, [b]; }
)");
  CHECK(run(text).outcome.ending == Ending::done);
  Run const small = run(text, 32, 1, 1, 50 * 480);
  REQUIRE(small.outcome.finding);
  CHECK(small.outcome.finding->kind == Finding::Kind::stack_overflow);
  CHECK(small.message().find("the stack of 24000 bytes is full") == 0);
  // An endless recursion is a stack overflow, not a limit.
  Run const endless = run(calling(R"(
.func down() { call.uni down; ret; }
)",
                                  "  call.uni down;\n"));
  REQUIRE(endless.outcome.finding);
  CHECK(endless.outcome.finding->kind == Finding::Kind::stack_overflow);
}

TEST_CASE("alloca gives room on the stack, per lane as much as it asks for") {
  auto const got = results(calling("", R"(
  stacksave.u64 %rd4;
  add.u32 %r4, %r1, 1; mul.wide.u32 %rd5, %r4, 4;
  alloca.u64 %rd6, %rd5, 16;
  alloca.u64 %rd7, 8, 8;
  st.local.u64 [%rd7], 5;
  mov.u32 %r5, 0; mov.u64 %rd8, %rd6;
FILL:
  st.local.u32 [%rd8], %r5; add.u64 %rd8, %rd8, 4; add.u32 %r5, %r5, 1; setp.le.u32 %p1, %r5, %r1;
  @%p1 bra FILL;
  mov.u32 %r9, 0;
SUM:
  sub.u64 %rd8, %rd8, 4; ld.local.u32 %r6, [%rd8]; add.u32 %r9, %r9, %r6; setp.ne.u64 %p2, %rd8, %rd6;
  @%p2 bra SUM;
  ld.local.u32 %r6, [%rd7]; add.u32 %r9, %r9, %r6;
  stackrestore.u64 %rd4;
  stacksave.u64 %rd9; sub.u64 %rd9, %rd9, %rd4; cvt.u32.u64 %r6, %rd9; add.u32 %r9, %r9, %r6;
)"),
                           64);
  for (u32 i = 0; i < 64; ++i) CHECK(got[i] == i * (i + 1) / 2 + 5);
  Run const full = run(calling("", "  alloca.u64 %rd4, 100000;\n  mov.u32 %r9, 1;\n"));
  REQUIRE(full.outcome.finding);
  CHECK(full.outcome.finding->kind == Finding::Kind::stack_overflow);
}

TEST_CASE("what is read before it is written does not depend on the groups before") {
  // %r8 is written by odd groups only, and in the callee %r7 by lanes that are asked to.
  std::string const text = calling(R"(
.func (.param .b32 r) f(.param .b32 n)
{ .reg .pred %p<4>; .reg .b32 %r<8>; .local .b32 word;
  ld.param.u32 %r1, [n]; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 1;
  @%p1 mov.u32 %r7, 9;
  ld.local.u32 %r3, [word]; add.u32 %r3, %r3, %r7; st.local.u32 [word], 100;
  st.param.b32 [r], %r3;
  setp.lt.u32 %p2, %r1, 1000000; @%p2 bra END;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], 0; call.uni (b), f, (a); }
END:
  ret; }
)",
                                   R"(
  and.b32 %r4, %r2, 1; setp.eq.u32 %p1, %r4, 1;
  @%p1 mov.u32 %r8, 5;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), f, (a); ld.param.b32 %r9, [b]; }
  add.u32 %r9, %r9, %r8;
)");
  auto const got = results(text, 64, 6);
  for (u32 i = 0; i < got.size(); ++i) CHECK(got[i] == (i / 64 % 2 ? 5u : 0u) + (i % 2 ? 9u : 0u));
}

// ---------------------------------------------------------------- the device's library

namespace {
std::string const library = R"(
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.extern .func (.param .b64 p) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
)";
// A string as a variable of the module.
std::string text_variable(std::string const& name, std::string const& text) {
  std::string bytes;
  for (char c : text) bytes += std::to_string(static_cast<unsigned char>(c)) + ", ";
  return ".global .align 1 .b8 " + name + "[" + std::to_string(text.size() + 1) + "] = {" + bytes + "0};\n";
}
std::string const allocate = R"(
  { .param .b64 n; .param .b64 p; st.param.b64 [n], 16; call.uni (p), malloc, (n); ld.param.b64 %rd4, [p]; }
)";
std::string const release = "  { .param .b64 p; st.param.b64 [p], %rd4; call.uni free, (p); }\n";
}  // namespace

TEST_CASE("printf prints group after group for any number of threads") {
  std::string const text = calling(library + text_variable("format", "%u: %d %5.2f %s|") + text_variable("word", "abc"),
                                   R"(
  { .local .align 8 .b8 given[32]; .param .b64 f; .param .b64 a; .param .b32 r;
    st.local.u32 [given], %r1; neg.s32 %r4, %r1; st.local.u32 [given+4], %r4;
    cvt.rn.f64.u32 %fd1, %r1; mul.f64 %fd1, %fd1, 0d3FE0000000000000; st.local.f64 [given+8], %fd1;
    mov.u64 %rd4, word; cvta.global.u64 %rd4, %rd4; st.local.u64 [given+16], %rd4;
    mov.u64 %rd5, format; cvta.global.u64 %rd5, %rd5; mov.u64 %rd6, given; cvta.local.u64 %rd6, %rd6;
    st.param.b64 [f], %rd5; st.param.b64 [a], %rd6;
    call.uni (r), vprintf, (f, a); ld.param.b32 %r9, [r]; }
)");
  std::string expected;
  for (u32 i = 0; i < 12 * 40; ++i) {
    char line[100];
    std::snprintf(line, sizeof line, "%u: %d %5.2f abc|", i, -static_cast<int>(i), i * 0.5);
    expected += line;
  }
  for (unsigned threads : {1u, 3u}) {
    Bench b(text);
    b.launch.block = {40, 1, 1};
    b.launch.grid = {12, 1, 1};
    std::string printed;
    b.launch.print = [&](std::string_view part) { printed += part; };
    u64 const out = b.buffer("out", 4 * 12 * 40);
    b.run({}, {}, threads);
    REQUIRE(b.outcome.ending == Ending::done);
    CHECK(printed == expected);
    CHECK(b.read<u32>(out) == std::vector<u32>(12 * 40, 4));
    CHECK(b.program->prints());
  }
  // No printer, no format.
  Bench silent(calling(library, R"(
  { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], 0; st.param.b64 [a], 0;
    call.uni (r), vprintf, (f, a); ld.param.b32 %r9, [r]; }
)"));
  u64 const out = silent.buffer("out", 4 * 32);
  silent.run();
  CHECK(silent.read<u32>(out)[3] == ~0u);
  CHECK_FALSE(Bench(calling("", "  mov.u32 %r9, 3;\n")).program->prints());
}

TEST_CASE("an assertion that fails is a finding with its text") {
  Run const r = run(calling(
      library + text_variable("message", "i < 20") + text_variable("file", "a.cu") + text_variable("function", "k"),
      R"(
  setp.lt.u32 %p1, %r1, 20;
  @%p1 bra FINE;
  { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s;
    mov.u64 %rd4, message; st.param.b64 [m], %rd4; mov.u64 %rd4, file; st.param.b64 [f], %rd4; st.param.b32 [l], 12;
    mov.u64 %rd4, function; st.param.b64 [n], %rd4; st.param.b64 [s], 1;
    call.uni __assertfail, (m, f, l, n, s); }
FINE:
)"));
  REQUIRE(r.outcome.finding);
  CHECK(r.outcome.finding->kind == Finding::Kind::assertion);
  CHECK(r.message() == "assertion 'i < 20' failed in k (a.cu:12)");
  CHECK(r.outcome.finding->local_id.x == 20);
  CHECK(r.outcome.finding->source == "a.cu:12");
}

TEST_CASE("malloc gives each lane memory of its own, free takes it back") {
  auto const got = results(calling(library, allocate + R"(
  st.u32 [%rd4], %r1; ld.u32 %r4, [%rd4+4]; ld.u32 %r5, [%rd4]; add.u32 %r9, %r4, %r5;
)" + release),
                           256);
  for (u32 i = 0; i < 256; ++i) CHECK(got[i] == i);
  // More in the course of time than the heap holds at once, and what was freed begins as 0 again.
  auto const repeated = results(calling(library, R"(
  mov.u32 %r9, 0; mov.u32 %r5, 0;
AGAIN:
  { .param .b64 n; .param .b64 p; st.param.b64 [n], 50000; call.uni (p), malloc, (n); ld.param.b64 %rd4, [p]; }
  ld.u32 %r4, [%rd4+4]; add.u32 %r9, %r9, %r4; st.u32 [%rd4+4], 1;
)" + release + R"(
  add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 40;
  @%p1 bra AGAIN;
)"));
  CHECK(repeated == std::vector<u32>(32, 0));
  // Beyond the limit there is nothing.
  auto const none = results(calling(library, R"(
  { .param .b64 n; .param .b64 p; st.param.b64 [n], 100000000; call.uni (p), malloc, (n); ld.param.b64 %rd4, [p]; }
  cvt.u32.u64 %r9, %rd4;
)"));
  CHECK(none == std::vector<u32>(32, 0));
}

TEST_CASE("misuse of the heap is found") {
  auto const found = [](std::string const& body) {
    Run const r = run(calling(library, body), 1);
    REQUIRE(r.outcome.finding);
    return *r.outcome.finding;
  };
  Finding const late =
      found(allocate + "  st.u32 [%rd4+8], 1; ld.u32 %r4, [%rd4+8];\n" + release + "  ld.u32 %r9, [%rd4+8];\n");
  CHECK(late.kind == Finding::Kind::use_after_free);
  CHECK(late.message.find("at offset 8 of buffer 'malloc at test.ptx:") != std::string::npos);
  // The very same access, in a loop.
  Finding const loop = found(allocate + "  mov.u32 %r4, 0;\nL:\n  ld.u32 %r9, [%rd4];\n" + release + "  bra L;\n");
  CHECK(loop.kind == Finding::Kind::use_after_free);
  Finding const beyond = found(allocate + "  st.u32 [%rd4+16], 1;\n  mov.u32 %r9, 1;\n");
  CHECK(beyond.kind == Finding::Kind::out_of_bounds);
  Finding const twice = found(allocate + release + release + "  mov.u32 %r9, 1;\n");
  CHECK(twice.kind == Finding::Kind::invalid_free);
  CHECK(twice.message.find("freed twice") != std::string::npos);
  Finding const wrong = found("  ld.param.u64 %rd4, [out];\n" + release + "  mov.u32 %r9, 1;\n");
  CHECK(wrong.kind == Finding::Kind::invalid_free);
  CHECK(wrong.message.find("it lies in 'out'") != std::string::npos);
}

}  // namespace kernelcast::emu::test
