// Calls of device functions: what they compute, against the same computed here.
#include <cstring>

#include "catch.hpp"
#include "harness.hpp"
#include "kernels/ptx/inline.hpp"

using namespace kernelcast;
using namespace kernelcast::emu;
using namespace kernelcast::emu::test;

namespace {

// k(u32* out): out[i] = body's %r9, where %r1 is the work-item.
std::string calling(std::string const& functions, std::string const& body) {
  return functions + R"(
.visible .entry k(.param .u64 out)
{ .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x;
)" + body +
         R"(
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r9;
  ret; }
)";
}

std::vector<std::uint32_t> results(std::string const& text) {
  Bench b(text);
  std::uint64_t const out = b.buffer("out", 4 * 32);
  b.run();
  INFO((b.outcome.finding ? b.outcome.finding->message : ""));
  REQUIRE(b.outcome.ending == Ending::done);
  return b.read<std::uint32_t>(out);
}

// square_or_half(x): early return, its own labels and registers under the caller's names.
constexpr char const* square_or_half = R"(
.func (.param .b32 result) square_or_half(.param .b32 x)
{ .reg .pred %p<4>; .reg .b32 %r<16>;
  ld.param.u32 %r1, [x];
  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra EVEN;
  mul.lo.u32 %r3, %r1, %r1;
  st.param.b32 [result], %r3;
  ret;
EVEN:
  shr.u32 %r3, %r1, 1;
  st.param.b32 [result], %r3;
  ret; }
)";
std::uint32_t expected(std::uint32_t x) {
  return x % 2 ? x * x : x / 2;
}

}  // namespace

TEST_CASE("a called function returns from every path, twice in one kernel and from another function") {
  auto const got = results(calling(std::string(square_or_half) + R"(
.func (.param .b32 result) twice(.param .b32 x)
{ .reg .b32 %r<4>;
  ld.param.u32 %r1, [x];
  { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r1;
    call.uni (b), square_or_half, (a);
    ld.param.b32 %r2, [b]; }
  { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r2;
    call.uni (b), square_or_half, (a);
    ld.param.b32 %r3, [b]; }
  st.param.b32 [result], %r3;
  ret; }
)",
                                   R"(
  { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r1;
    call.uni (b), twice, (a);
    ld.param.b32 %r8, [b]; }
  { .param .b32 a; .param .b32 b;
    st.param.b32 [a], 7;
    call.uni (b), square_or_half, (a);
    ld.param.b32 %r7, [b]; }
  add.u32 %r9, %r8, %r7;
)"));
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(got[i] == expected(expected(i)) + 49);
}

TEST_CASE("a guarded call is made by the lanes whose predicate holds") {
  auto const got = results(calling(square_or_half, R"(
  mov.u32 %r9, 1000;
  setp.lt.u32 %p1, %r1, 10;
  { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r1;
    @%p1 call (b), square_or_half, (a);
    @%p1 ld.param.b32 %r9, [b]; }
)"));
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(got[i] == (i < 10 ? expected(i) : 1000));
}

TEST_CASE("vectors pass in pieces, structures by address, numbers in registers") {
  SECTION("four floats") {
    auto const got = results(calling(R"(
.func (.param .align 16 .b8 result[16]) doubled(.param .align 16 .b8 v[16])
{ .reg .f32 %f<16>;
  ld.param.v4.f32 {%f1, %f2, %f3, %f4}, [v];
  add.f32 %f5, %f1, %f1; add.f32 %f6, %f2, %f2; add.f32 %f7, %f3, %f3; add.f32 %f8, %f4, %f4;
  st.param.v4.f32 [result], {%f8, %f7, %f6, %f5};
  ret; }
)",
                                     R"(
  cvt.rn.f32.u32 %f1, %r1;
  { .param .align 16 .b8 a[16]; .param .align 16 .b8 b[16];
    st.param.v4.f32 [a], {%f1, 0f40000000, 3.0, %f1};
    call.uni (b), doubled, (a);
    ld.param.v4.f32 {%f2, %f3, %f4, %f5}, [b]; }
  add.f32 %f6, %f2, %f3;
  cvt.rzi.u32.f32 %r9, %f6;
)"));
    for (std::uint32_t i = 0; i < 32; ++i) CHECK(got[i] == 2 * i + 6);
  }
  SECTION("an element of a structure, by an index that is known at run time") {
    auto const got = results(calling(R"(
.func (.param .b32 result) element(.param .align 4 .b8 s[16], .param .b32 k)
{ .reg .b32 %r<8>; .reg .b64 %rd<8>;
  mov.b64 %rd1, s;
  ld.param.u32 %r1, [k];
  and.b32 %r2, %r1, 3;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.param.u32 %r3, [%rd3];
  ld.param.u32 %r4, [s+4];
  add.u32 %r5, %r3, %r4;
  st.param.b32 [result], %r5;
  ret; }
)",
                                     R"(
  { .param .align 4 .b8 a[16]; .param .b32 k; .param .b32 b;
    st.param.b32 [a], 100; st.param.b32 [a+4], %r1; st.param.b32 [a+8], 300; st.param.b32 [a+12], 400;
    st.param.b32 [k], %r1;
    call.uni (b), element, (a, k);
    ld.param.b32 %r9, [b]; }
)"));
    for (std::uint32_t i = 0; i < 32; ++i) {
      std::uint32_t const s[] = {100, i, 300, 400};
      CHECK(got[i] == s[i & 3] + i);
    }
  }
  SECTION("registers, as PTX before functions had an ABI") {
    auto const got = results(calling(R"(
.func (.reg .u32 sum) plus(.reg .u32 a, .reg .u32 b) { add.u32 sum, a, b; ret; }
)",
                                     R"(
  mov.u32 %r9, 5;
  setp.ge.u32 %p1, %r1, 4;
  @%p1 call (%r9), plus, (%r1, 17);
)"));
    for (std::uint32_t i = 0; i < 32; ++i) CHECK(got[i] == (i >= 4 ? i + 17 : 5));
  }
  SECTION("a byte and the halves of a word read what was stored as something else") {
    auto const got = results(calling(R"(
.func (.param .b32 result) parts(.param .b32 x, .param .b8 c)
{ .reg .b16 %h<4>; .reg .b32 %r<8>;
  ld.param.u16 %r1, [x+2];
  ld.param.s8 %r2, [c];
  add.s32 %r3, %r1, %r2;
  st.param.b32 [result], %r3;
  ret; }
)",
                                     R"(
  shl.b32 %r2, %r1, 16;
  { .param .b32 a; .param .b8 c; .param .b32 b;
    st.param.b32 [a], %r2;
    mov.u16 %h1, 255;
    st.param.b8 [c], %h1;
    call.uni (b), parts, (a, c);
    ld.param.b32 %r9, [b]; }
)"));
    for (std::uint32_t i = 0; i < 32; ++i) CHECK(got[i] == i - 1);
  }
}

TEST_CASE("shared variables of a function exist once, local ones per call") {
  auto const got = results(calling(R"(
.func put(.param .b32 i, .param .b32 x)
{ .reg .b32 %r<8>; .shared .u32 box[32];
  ld.param.u32 %r1, [i]; ld.param.u32 %r2, [x];
  shl.b32 %r3, %r1, 2;
  mov.u32 %r4, box;
  add.u32 %r5, %r4, %r3;
  ld.shared.u32 %r6, [%r5];
  add.u32 %r7, %r6, %r2;
  st.shared.u32 [%r5], %r7;
  ret; }
.func (.param .b32 result) get(.param .b32 i)
{ .reg .b32 %r<8>;
  ld.param.u32 %r1, [i];
  { .param .b32 a; .param .b32 x; st.param.b32 [a], %r1; st.param.b32 [x], 5; call.uni put, (a, x); }
  shl.b32 %r3, %r1, 2;
  ld.shared.u32 %r2, [%r3];
  st.param.b32 [result], %r2;
  ret; }
)",
                                   R"(
  { .param .b32 a; .param .b32 x; st.param.b32 [a], %r1; st.param.b32 [x], %r1; call.uni put, (a, x); }
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), get, (a); ld.param.b32 %r9, [b]; }
)"));
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(got[i] == i + 5);
}

TEST_CASE("arguments passed in registers move no memory") {
  Bench b(calling(square_or_half, R"(
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), square_or_half, (a); ld.param.b32 %r9, [b]; }
)"));
  auto const whole = ptx::inline_calls(*b.module, *b.module->find_kernel("k"));
  REQUIRE(whole);
  for (ptx::Instruction const& i : whole->instructions) {
    CHECK(!i.is_call());
    // What is left: the kernel's own parameter and the store of the result.
    if (i.is(ptx::Op::ld)) CHECK(ptx::full_opcode(i) == "ld.param.u64");
    if (i.is(ptx::Op::st)) CHECK(ptx::full_opcode(i) == "st.global.u32");
  }
  CHECK_FALSE(ptx::inline_calls(*b.module, b.module->functions.front()));  // calls nothing
}

// f0 adds 1, 600 times; each other function calls the one before it four times.
TEST_CASE("functions that would be copied too often remain calls") {
  constexpr int length = 600, times = 4, levels = 4;
  auto const head = [](int level) {
    return ".func (.param .b32 result) f" + std::to_string(level) +
           "(.param .b32 x)\n{ .reg .b32 %r<4>;\n  ld.param.u32 %r1, [x];\n";
  };
  std::string const tail = "  st.param.b32 [result], %r1;\n  ret; }\n";
  auto const call = [](int level, std::string const& from, std::string const& to) {
    return "  { .param .b32 a; .param .b32 b; st.param.b32 [a], " + from + "; call.uni (b), f" + std::to_string(level) +
           ", (a); ld.param.b32 " + to + ", [b]; }\n";
  };
  std::string functions = head(0);
  for (int i = 0; i < length; ++i) functions += "  add.u32 %r1, %r1, 1;\n";
  functions += tail;
  for (int level = 1; level < levels; ++level) {
    functions += head(level);
    for (int k = 0; k < times; ++k) functions += call(level - 1, "%r1", "%r1");
    functions += tail;
  }
  auto const text = calling(functions, call(levels - 1, "%r1", "%r9"));
  auto const got = results(text);
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(got[i] == i + length * times * times * times);
  Bench b(text);
  auto const whole = ptx::whole_function(*b.module, *b.module->find_kernel("k"));
  REQUIRE(whole);
  CHECK(whole->callables.size() == levels);
  CHECK(whole->function.instructions.size() < 2 * length);
}

TEST_CASE("functions without a body are refused where they are reached") {
  std::string const functions = ".extern .func (.param .b32 r) elsewhere(.param .b32 x);\n";
  Bench b(calling(functions, R"(
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), elsewhere, (a); ld.param.b32 %r9, [b]; }
)"));
  b.buffer("out", 4 * 32);
  b.run();
  REQUIRE(b.outcome.finding);
  CHECK(b.outcome.finding->kind == Finding::Kind::unknown_opcode);
  CHECK(b.outcome.finding->message == "call of 'elsewhere' cannot be executed: it has no body here");
}

TEST_CASE("functions without a body can be answered from outside") {
  // fetch(to, x) writes through its first argument, and is given the address of a kernel.
  Bench b(
      calling(".extern .func (.param .b32 r) fetch(.param .b64 to, .param .b32 x, .param .b64 f);\n"
              ".visible .entry other() { ret; }\n",
              R"(
  .local .align 4 .b8 place[4];
  { .param .b64 a; .param .b32 b; .param .b64 c; .param .b32 d;
    mov.b64 %rd4, place; cvta.local.u64 %rd4, %rd4; st.param.b64 [a], %rd4; st.param.b32 [b], %r1;
    mov.b64 %rd5, other; st.param.b64 [c], %rd5;
    call.uni (d), fetch, (a, b, c); ld.param.b32 %r8, [d]; }
  ld.local.u32 %r7, [place]; mad.lo.u32 %r9, %r7, 1000, %r8;
)"));
  std::uint64_t const out = b.buffer("out", 4 * 32);
  std::vector<std::uint32_t> asked;
  b.launch.external = [&](ExternalCall const& call) -> std::optional<std::uint64_t> {
    CHECK(call.function == "fetch");
    REQUIRE(call.arguments.size() == 3);
    std::uint64_t to = 0, function = 0;
    std::uint32_t x = 0;
    std::memcpy(&to, call.arguments[0].data(), 8);
    std::memcpy(&x, call.arguments[1].data(), 4);
    std::memcpy(&function, call.arguments[2].data(), 8);
    auto const named = function_at(*b.module, function);
    REQUIRE(named);
    CHECK(b.module->functions[*named].name == "other");
    std::uint32_t const written = 7 + x;
    REQUIRE(call.memory_at(to).size() >= 4);
    std::memcpy(call.memory_at(to).data(), &written, 4);
    CHECK(call.memory_at(1).empty());
    asked.push_back(x);
    return 2 * x;
  };
  b.run();
  REQUIRE(b.outcome.ending == Ending::done);
  auto const results = b.read<std::uint32_t>(out);
  REQUIRE(asked.size() == 32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    CHECK(asked[lane] == lane);
    CHECK(results[lane] == (7 + lane) * 1000 + 2 * lane);
  }
}

TEST_CASE("what lies at the address of a function is refused where it is read") {
  Bench b(calling(square_or_half, "  ld.u32 %r9, [square_or_half+16];\n"));
  b.buffer("out", 4 * 32);
  b.run();
  REQUIRE(b.outcome.finding);
  CHECK(b.outcome.finding->kind == Finding::Kind::unknown_opcode);
}
