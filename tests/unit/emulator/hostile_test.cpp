// Kernels that reach for memory that is not theirs: every path to memory × every pattern of addresses × every width,
// calls of addresses and stacks out of joint. Whatever they do, the access is named and nothing else changes, whether
// it ends the launch or is passed over; twins that stay inside say nothing.
#include <algorithm>

#include "catch.hpp"
#include "emulator/passed_over.hpp"
#include "harness.hpp"

namespace kernelcast::emu::test {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

constexpr u32 lanes = 64;

std::string replaced(std::string text, std::string const& what, std::string const& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

// Memory that kernels aim at: `room` bytes at the address that `base` leaves in %base. Each lane has its own `step`
// bytes at most, from 0 on.
struct Target {
  char const* name;
  std::string space;  // of the instruction; "" generic
  std::string base;
  bool writable = true, atomic = true;
  bool narrow = false;         // the address fits in 32 bits
  bool beside_others = false;  // generic windows: farther addresses belong to another
};
std::vector<Target> targets() {
  return {
      {"global", ".global", "ld.param.u64 %base, [p];"},
      {"generic global", "", "ld.param.u64 %base, [p]; cvta.to.global.u64 %base, %base; cvta.global.u64 %base, %base;"},
      {"variable", ".global", "mov.u64 %base, g;"},
      {"constant", ".const", "mov.u64 %base, c;", false, false},
      {"shared", ".shared", "mov.u64 %base, s;", true, true, true},
      {"generic shared", "", "mov.u64 %base, s; cvta.shared.u64 %base, %base;", true, true, false, true},
      {"local", ".local", "mov.u64 %base, l;", true, false, true},
      {"generic local", "", "mov.u64 %base, l; cvta.local.u64 %base, %base;", true, false, false, true},
  };
}

// What is done there. {S}: the space, {B}: bits, {A}: the address.
struct Operation {
  char const* name;
  std::string text;
  bool writes, atomic = false;
  std::vector<u32> widths;  // bytes
};
std::vector<Operation> operations() {
  return {
      {"ld", "ld{S}.b{B} %v{B}, [{A}];", false, false, {1, 2, 4, 8}},
      {"ld.v2", "ld{S}.v2.b32 {%v32, %w32}, [{A}];", false, false, {8}},
      {"ld.v4", "ld{S}.v4.b32 {%v32, %w32, %x32, %y32}, [{A}];", false, false, {16}},
      {"ld.volatile", "ld.volatile{S}.b{B} %v{B}, [{A}];", false, false, {4}},
      {"st", "st{S}.b{B} [{A}], %v{B};", true, false, {1, 2, 4, 8}},
      {"st.v2", "st{S}.v2.b64 [{A}], {%v64, %w64};", true, false, {16}},
      {"st.v4", "st{S}.v4.b8 [{A}], {%v16, %w16, %v16, %w16};", true, false, {4}},
      {"atom.add", "atom{S}.add.u{B} %v{B}, [{A}], 1;", true, true, {4, 8}},
      {"atom.cas", "atom{S}.cas.b{B} %v{B}, [{A}], %w{B}, %v{B};", true, true, {4, 8}},
      {"red.max", "red{S}.max.u{B} [{A}], %v{B};", true, true, {4, 8}},
  };
}

// Where lanes go: offsets in bytes for lanes that `who` names, others stay inside at width × lane.
struct Pattern {
  char const* name;
  // Set %off, given %in (the lane's own offset inside) and %lane.
  std::string text;
  bool inside = false;    // silent
  bool far = false;       // beyond 4 GiB: not for windows that lie side by side, nor for 32-bit addresses
  bool straddle = false;  // half an element over the end: not for single bytes
};
std::vector<Pattern> patterns() {
  return {
      {"inside", "mov.u64 %off, %in;", true},
      {"inside, backwards", "sub.s64 %off, {R}, {W}; sub.s64 %off, %off, %in;", true},
      {"the last lane one behind", "add.s64 %off, %in, 0; setp.eq.u32 %p, %lane, 63; @%p mov.u64 %off, {R};"},
      {"one lane before", "mov.u64 %off, %in; setp.eq.u32 %p, %lane, 17; @%p mov.s64 %off, -{W};"},
      {"all behind", "add.s64 %off, %in, {R};"},
      {"far before", "sub.s64 %off, %in, 0x10000000;"},
      {"half over the end", "mov.u64 %off, %in; setp.eq.u32 %p, %lane, 5; @%p sub.s64 %off, {R}, {H};", false, false,
       true},
      {"2 GiB away", "add.s64 %off, %in, 0x80000000;"},
      {"4 GiB away", "add.s64 %off, %in, 0x100000000;", false, true},
      {"4 GiB before", "sub.s64 %off, %in, 0x100000000;", false, true},
      {"one lane at the other end of the world",
       "mov.u64 %off, %in; setp.eq.u32 %p, %lane, 40; @%p mov.u64 %off, "
       "0x7fffffffffffff00;",
       false, true},
      {"at the highest address", "sub.s64 %off, %in, {R}; xor.b64 %off, %off, 0x8000000000000000;", false, true},
      {"a lane whose predicate does not hold",
       "mov.u64 %off, %in; setp.eq.u32 %p, %lane, 9; @%p add.s64 %off, %off, 0x40000000; not.pred %doing, %p;", true},
      {"a lane whose predicate holds",
       "mov.u64 %off, %in; setp.eq.u32 %doing, %lane, 9; @%doing add.s64 %off, %off, 0x40000000;"},
      {"in a branch", "mov.u64 %off, %in; setp.lt.u32 %p, %lane, 40; @%p bra THERE; add.s64 %off, %in, {R};\nTHERE:"},
  };
}

// How the address is given.
struct Form {
  char const* name;
  std::string address;  // after `before`
  std::string before;
  bool narrow = false;
};
std::vector<Form> forms() {
  return {
      {"register", "%at", "add.s64 %at, %base, %off;"},
      {"displaced up", "%at+128", "add.s64 %at, %base, %off; sub.s64 %at, %at, 128;"},
      {"displaced down", "%at+-64", "add.s64 %at, %base, %off; add.s64 %at, %at, 64;"},
      {"narrow", "%low", "add.s64 %at, %base, %off; cvt.u32.u64 %low, %at;", true},
  };
}

struct Crafted {
  std::string name, text;
  bool inside = false;
};

std::string kernel(std::string const& body, u32 room) {
  std::string const r = std::to_string(room);
  return ".global .align 16 .b8 g[" + r + "];\n.global .align 16 .b8 behind_g[64];\n.const .align 16 .b8 c[" + r +
         "];\n"
         ".visible .entry k(.param .u64 p, .param .u64 others) {\n"
         " .reg .b64 %base, %off, %in, %at, %v64, %w64; .reg .b32 %low, %lane, %v32, %w32, %x32, %y32; .reg .b16 %v16, "
         "%w16, %v8;\n .reg .pred %p, %doing;\n .shared .align 16 .b8 s[" +
         r + "];\n .local .align 16 .b8 l[" + r +
         "];\n mov.u32 %lane, %tid.x; mov.u64 %v64, 0; mov.u64 %w64, 0; mov.u32 %v32, 0; mov.u32 %w32, 0;\n mov.b16 "
         "%v16, 0; mov.b16 %w16, 0; mov.b16 %v8, 0; setp.eq.u32 %doing, 0, 0;\n" +
         body + "\n ret;\n}\n";
}

std::vector<Crafted> accesses() {
  std::vector<Crafted> all;
  for (Target const& target : targets())
    for (Operation const& operation : operations()) {
      if (operation.writes && !target.writable) continue;
      if (operation.atomic && !target.atomic) continue;
      for (u32 width : operation.widths)
        for (Form const& form : forms()) {
          if (form.narrow && !target.narrow) continue;
          for (Pattern const& pattern : patterns()) {
            if (pattern.far && (form.narrow || target.beside_others)) continue;
            if (pattern.straddle && width == 1) continue;
            u32 const room = lanes * width;
            std::string body = target.base + "\n mul.wide.u32 %in, %lane, {W};\n " + pattern.text + "\n " +
                               form.before + "\n @%doing " + operation.text;
            body = replaced(body, "{R}", std::to_string(room));
            body = replaced(body, "{H}", std::to_string(width / 2));
            body = replaced(body, "{W}", std::to_string(width));
            body = replaced(body, "{S}", target.space);
            body = replaced(body, "{B}", std::to_string(8 * width));
            body = replaced(body, "{A}", form.address);
            all.push_back({std::string(target.name) + ", " + operation.name + " of " + std::to_string(width) +
                               " bytes, " + form.name + ", " + pattern.name,
                           kernel(body, room), pattern.inside});
          }
        }
    }
  return all;
}

// Indices in 32-bit registers, which the decoder joins with their base.
std::vector<Crafted> indices() {
  std::vector<Crafted> all;
  for (char const* type : {"s32", "u32"})
    for (Target const& target : targets()) {
      if (target.space.empty() || target.space == ".const") continue;
      for (u32 width : {1u, 2u, 4u, 8u})
        for (auto const& [index, inside] : std::initializer_list<std::pair<std::string, bool>>{{"0", true},
                                                                                               {"63", true},
                                                                                               {"64", false},
                                                                                               {"-1", false},
                                                                                               {"0x7fffffff", false},
                                                                                               {"0x80000000", false}}) {
          std::string body = target.base +
                             "\n setp.eq.u32 %p, %lane, 33; selp.b32 %low, {I}, %lane, %p;\n mul.wide.{T} %off, %low, "
                             "{W}; add.s64 %at, %base, %off;\n st{S}.b{B} [%at], %v{B};";
          body = replaced(body, "{I}", index);
          body = replaced(body, "{T}", type);
          body = replaced(body, "{W}", std::to_string(width));
          body = replaced(body, "{S}", target.space);
          body = replaced(body, "{B}", std::to_string(8 * width));
          all.push_back(
              {std::string(target.name) + ", index " + index + " (" + type + ") of " + std::to_string(width) + " bytes",
               kernel(body, lanes * width), inside});
        }
    }
  return all;
}

// Instructions that move more than a word, by one warp: 512 bytes of global memory at %g, of shared memory at %s, or 16
// per lane.
std::vector<Crafted> copies() {
  struct Move {
    char const* name;
    bool by_lane;
    std::string text;
  };
  std::vector<Move> const moves = {
      {"cp.async of 4", true, "cp.async.ca.shared.global [%s], [%g], 4;"},
      {"cp.async of 16", true, "cp.async.cg.shared.global [%s], [%g], 16;"},
      {"cp.async of 16 from the right place", true, "cp.async.cg.shared.global [%s], [%base], 16;"},
      {"bulk copy to shared", false,
       "@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%g], 512, [%bar];"},
      {"bulk copy to shared from the right place", false,
       "@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%base], 512, [%bar];"},
      {"bulk copy to global", false, "@%first cp.async.bulk.global.shared::cta.bulk_group [%g], [%at], 512;"},
      {"bulk reduction", false, "@%first cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%g], [%at], 512;"},
      {"ldmatrix", true, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%v0, %v1, %v2, %v3}, [%s];"},
      {"stmatrix", true, "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%s], {%v0, %v1, %v2, %v3};"},
      {"wmma.load", false, "wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%v0, %v1, %v2, %v3}, [%g];"},
      {"wmma.load of shared", false, "wmma.load.c.sync.aligned.row.m16n16k16.shared.f16 {%v0, %v1, %v2, %v3}, [%s];"},
      {"wmma.store", false, "wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%g], {%v0, %v1, %v2, %v3};"},
      {"st.async", true,
       "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%s], {%v0, %v1, %v2, %v3}, [%bar];"},
      {"red.async", true,
       "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%s+12], %v0, [%bar];"},
      {"a request to cancel", true,
       "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%s], [%bar];"},
      {"mbarrier.init", true, "mbarrier.init.shared.b64 [%s+8], 3;"},
      {"mbarrier.inval", true, "mbarrier.inval.shared.b64 [%s+8];"},
  };
  std::vector<Crafted> all;
  auto const add = [&](std::string name, bool by_lane, s64 shift, std::string const& text, bool inside) {
    std::string const d = std::to_string(shift);
    all.push_back(
        {std::move(name),
         ".visible .entry k(.param .u64 p, .param .u64 others) {\n"
         " .reg .b64 %base, %in, %at, %bar, %g, %s; .reg .b32 %lane, %size, %v<4>; .reg .pred %p, %first;\n"
         " .shared .align 128 .b8 shared[512]; .shared .align 8 .b64 barrier;\n"
         " mov.u32 %lane, %tid.x; setp.eq.u32 %first, %lane, 0; setp.ge.u32 %p, %lane, 32; @%p exit;\n"
         " ld.param.u64 %base, [p]; mov.u64 %at, shared; mov.u64 %bar, barrier; @%first mbarrier.init.shared.b64 "
         "[%bar], 1;\n mov.u32 %v0, 0; mov.u32 %v1, 0; mov.u32 %v2, 0; mov.u32 %v3, 0;\n mul.wide.u32 %in, %lane, " +
             std::string(by_lane ? "16" : "0") + ";\n add.s64 %g, %base, %in; add.s64 %g, %g, " + d +
             "; add.s64 %s, %at, %in; add.s64 %s, %s, " + d + "; add.s64 %base, %base, %in;\n " + text + "\n ret;\n}\n",
         inside});
  };
  for (Move const& move : moves)
    for (s64 shift : {0ll, 16ll, -16ll, 512ll, 0x40000000ll, -0x40000000ll, 0x7ffffff0ll, 0xfffffff0ll, 0x100000000ll})
      add(std::string(move.name) + ", shifted by " + std::to_string(shift), move.by_lane, shift, move.text, shift == 0);
  for (auto const& [size, inside] : std::initializer_list<std::pair<u32, bool>>{
           {0, true}, {16, true}, {512, true}, {528, false}, {0x7ffffff0, false}, {0xfffffff0, false}})
    for (char const* text : {"@%first cp.async.bulk.global.shared::cta.bulk_group [%g], [%at], %size;",
                             "@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%base], "
                             "%size, [%bar];"})
      add("bulk copy of " + std::to_string(size) + " bytes", false, 0,
          "mov.u32 %size, " + std::to_string(size) + ";\n " + text, inside);
  return all;
}

// A recursion down(n) whose frames hold 32 bytes; at its end it reaches `offset` bytes from its own.
std::vector<Crafted> frames() {
  std::vector<Crafted> all;
  for (u32 depth : {0u, 3u})
    for (u32 width : {1u, 2u, 4u, 8u})
      for (char const* operation :
           {"ld.local.b{B} %v{B}, [%at];", "st.local.b{B} [%at], %v{B};",
            "cvta.local.u64 %at, %at; ld.b{B} %v{B}, [%at];", "cvta.local.u64 %at, %at; st.b{B} [%at], %v{B};",
            "cvt.u32.u64 %low, %at; st.local.b{B} [%low], %v{B};"})
        for (auto const& [offset, inside] : std::initializer_list<std::pair<s64, bool>>{{0, true},
                                                                                        {24, true},
                                                                                        {32, true},  // parameters
                                                                                        {56, true},
                                                                                        {-32, true},  // a caller's
                                                                                        {64, false},
                                                                                        {4096, false},
                                                                                        {65536, false},
                                                                                        {0x7fff0000, false},
                                                                                        {-4096, false},
                                                                                        {-0x7fff0000, false}}) {
          std::string text = R"(
.func (.param .b32 r) down(.param .b32 n)
{ .reg .pred %p; .reg .b32 %n, %low, %v32, %got; .reg .b16 %v16, %v8; .reg .b64 %at, %v64;
  .param .b32 a; .param .b32 b; .local .align 32 .b8 room[32];
  mov.b64 %v64, 0; mov.b32 %v32, 0; mov.b16 %v16, 0; mov.b16 %v8, 0;
  ld.param.u32 %n, [n]; st.local.u32 [room+28], %n; setp.eq.u32 %p, %n, 0; @%p bra REACH;
  sub.u32 %got, %n, 1;
  st.param.b32 [a], %got; call.uni (b), down, (a); ld.param.b32 %got, [b];
  ld.local.u32 %n, [room+28]; add.u32 %got, %got, %n; st.param.b32 [r], %got; ret;
REACH:
  mov.u64 %at, room; add.s64 %at, %at, {O};
  {X}
  st.param.b32 [r], 0;
  ret; }
.visible .entry k(.param .u64 p, .param .u64 others) {
  .reg .b32 %got; { .param .b32 a; .param .b32 b; st.param.b32 [a], {D}; call.uni (b), down, (a);
  ld.param.b32 %got, [b]; } ret; }
)";
          text = replaced(text, "{X}", operation);
          text = replaced(text, "{O}", std::to_string(offset));
          text = replaced(text, "{D}", std::to_string(depth));
          text = replaced(text, "{B}", std::to_string(8 * width));
          all.push_back({"at depth " + std::to_string(depth) + ", " + std::to_string(offset) +
                             " bytes from room: " + operation + " of " + std::to_string(width) + " bytes",
                         text, inside});
        }
  return all;
}

struct RunReport {
  Outcome outcome;
  bool others_as_before = true;
  std::string message() const { return outcome.finding ? outcome.finding->message : "nothing"; }
};

RunReport run_crafted(std::string const& text, u32 room, u32 stack_bytes = 65536, PassedOver* passed_over = nullptr) {
  Bench b(replaced(text, ".visible .entry", "\n.visible .entry"));
  b.launch.block = {lanes, 1, 1};
  b.launch.stack_bytes = stack_bytes;
  b.launch.print = [](std::string_view) {};
  std::vector<u8> const canary(4096, 0xa5);
  u64 const before = b.memory.add("before", canary.size());
  std::memcpy(b.memory.bytes(before).data(), canary.data(), canary.size());
  b.buffer("aim", std::vector<u8>(room, 0));
  u64 const others = b.buffer("others", canary);
  RunReport result;
  Limits limits;
  limits.max_steps = 1'000'000;
  limits.passed_over = passed_over;
  result.outcome = b.run({}, limits);
  result.others_as_before = b.read<u8>(before) == canary && b.read<u8>(others) == canary;
  return result;
}

u32 room_of(std::string const& text) {
  std::size_t const at = text.find(".b8 g[");
  return at == std::string::npos ? 512 : static_cast<u32>(std::stoul(text.substr(at + 6)));
}

void check(std::vector<Crafted> const& all) {
  for (Crafted const& c : all) {
    RunReport const t = run_crafted(c.text, room_of(c.text));
    INFO(c.name << ": " << t.message() << "\n" << c.text);
    REQUIRE(t.others_as_before);
    if (c.inside) {
      REQUIRE(t.outcome.ending == Ending::done);
      continue;
    }
    PassedOver passed_over;
    RunReport const passed = run_crafted(c.text, room_of(c.text), 65536, &passed_over);
    auto const places = passed_over.take();
    REQUIRE(passed.others_as_before);
    // A copy of more bytes than an mbarrier can count still ends the launch.
    REQUIRE((passed.outcome.ending == Ending::done ||
             passed.message().find("of the mbarrier exceeds") != std::string::npos));
    REQUIRE(places.size() >= 1);
    REQUIRE(places[0].times >= 1);
    if (places.size() == 1) REQUIRE(places[0].finding.message == t.message());
    REQUIRE(t.outcome.ending == Ending::finding);
    bool const straddles = c.name.find("half over") != std::string::npos;
    auto const kind = t.outcome.finding->kind;
    REQUIRE((kind == Finding::Kind::out_of_bounds || (straddles && kind == Finding::Kind::misaligned)));
    REQUIRE(t.outcome.finding->at.line > 0);
    REQUIRE(t.message().find(" at ") != std::string::npos);
  }
}

}  // namespace

TEST_CASE("every path to memory names what lies outside, and is silent inside") {
  auto const all = accesses();
  CHECK(all.size() > 2000);
  check(all);
}

TEST_CASE("indices that leave a buffer are named") {
  check(indices());
}

TEST_CASE("copies and matrices that leave their memory are named") {
  check(copies());
}

TEST_CASE("a frame's owner and those it calls may use it, none reaches above the stack's end") {
  check(frames());
}

// As a program has it that miscounts: `here` is an array of 8, and what is stored behind it is unused or belongs to a
// caller. Whatever is hit, calls return where they came from.
TEST_CASE("no store reaches who called and what is kept for the return") {
  for (s64 first = -4096; first < 4096; first += 8) {
    std::string text = R"(
.func (.param .b32 r) down(.param .b32 n)
{ .reg .pred %p; .reg .b32 %n, %got, %i; .reg .b64 %at, %v<3>; .local .align 8 .b8 here[32];
  ld.param.u32 %n, [n]; mov.u64 %v1, 0xdeadbeefcafebabe; mov.u64 %v2, 0x7fffffff7fffffff;
  mov.u64 %at, here; add.s64 %at, %at, {F}; setp.eq.u32 %p, %n, 0; @%p bra STORE;
  sub.u32 %got, %n, 1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %got; call.uni (b), down, (a); ld.param.b32 %got, [b]; }
  add.u32 %got, %got, 1; st.param.b32 [r], %got; ret;
STORE:
  st.local.u64 [%at], %v1; st.local.u64 [%at+8], %v2; st.local.u64 [%at+16], %v1;
  st.param.b32 [r], 0;
  ret; }
.visible .entry k(.param .u64 p, .param .u64 others) {
  .reg .b32 %got; .reg .b64 %p; .reg .pred %q;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], 6; call.uni (b), down, (a); ld.param.b32 %got, [b]; }
  ld.param.u64 %p, [p]; st.global.u32 [%p], %got; ret; }
)";
    RunReport const t = run_crafted(replaced(text, "{F}", std::to_string(first)), 512);
    INFO(first << ": " << t.message());
    CHECK(t.others_as_before);
    if (t.outcome.ending != Ending::done) CHECK(t.outcome.finding->kind == Finding::Kind::out_of_bounds);
    if (first >= 64) CHECK(t.outcome.ending == Ending::finding);
  }
}

TEST_CASE("a call, a branch or a return goes nowhere but where functions and labels are") {
  auto const text = [](std::string const& body) {
    return R"(
.func (.param .b32 r) plus(.param .b32 a, .param .b32 b)
{ .reg .b32 %r<4>; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; add.u32 %r3, %r1, %r2; st.param.b32 [r], %r3; ret; }
.func nothing() { ret; }
.func (.param .align 8 .b8 r[64]) large(.param .align 8 .b8 a[64]) { .reg .b64 %v; ld.param.u64 %v, [a+56];
  st.param.b64 [r+56], %v; ret; }
.global .align 8 .u64 table[3] = {plus, nothing, large};
.visible .entry k(.param .u64 p, .param .u64 others) {
  .reg .b64 %to, %v; .reg .b32 %lane, %i, %got; .reg .pred %p;
  P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
  mov.u32 %lane, %tid.x; ld.param.u64 %v, [p];
)" + body + "  ret;\n}\n";
  };
  std::string const call = R"(
  { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %lane; st.param.b32 [b], 7;
    call (c), %to, (a, b), P; ld.param.b32 %got, [c]; }
)";
  CHECK(run_crafted(text("  mov.u64 %to, plus;\n" + call), 64).outcome.ending == Ending::done);
  for (char const* to :
       {"mov.u64 %to, 0;", "mov.u64 %to, 1;", "mov.u64 %to, -1;", "mov.u64 %to, %v;", "mov.u64 %to, table;",
        "mov.u64 %to, plus; add.u64 %to, %to, 1;", "mov.u64 %to, plus; sub.u64 %to, %to, 16;",
        "mov.u64 %to, plus; add.u64 %to, %to, 0x10000;", "mov.u64 %to, nothing;", "mov.u64 %to, large;",
        "mov.u64 %to, plus; shl.b64 %to, %to, 1;", "mov.u64 %to, 0x40000000000;", "mov.u64 %to, 0x4ffffffffff;"})
    for (char const* who : {"", "setp.eq.u32 %p, %lane, 13; @%p ", "setp.ne.u32 %p, %lane, 63; @%p "}) {
      std::string const all = to;
      std::size_t const second = all.find("; ");
      std::string const guarded =
          second == std::string::npos ? who + all : all.substr(0, second + 2) + who + all.substr(second + 2);
      RunReport const t = run_crafted(text("  mov.u64 %to, plus;\n  " + guarded + call), 64);
      INFO(guarded << ": " << t.message());
      CHECK(t.outcome.ending == Ending::finding);
      CHECK(t.outcome.finding->kind == Finding::Kind::trap);
    }
  for (auto const& [index, inside] : std::initializer_list<std::pair<char const*, bool>>{
           {"0", true}, {"2", true}, {"3", false}, {"-1", false}, {"0x7fffffff", false}, {"0x80000000", false}}) {
    RunReport const t =
        run_crafted(text(std::string("  T: .branchtargets A, B, C;\n  setp.eq.u32 %p, %lane, 20; selp.b32 %i, ") +
                         index + ", 1, %p; brx.idx %i, T;\n A: mov.u32 %got, 1;\n B: mov.u32 %got, 2;\n C:\n"),
                    64);
    INFO(index << ": " << t.message());
    CHECK((t.outcome.ending == Ending::done) == inside);
  }
}

TEST_CASE("calls of every shape return, or say that the stack is full") {
  for (u32 depth : {1u, 10u, 200u, 5000u})
    for (u32 frame : {0u, 4u, 100u, 4000u, 60000u})
      for (u32 argument : {4u, 64u, 1000u}) {
        std::string text = R"(
.func (.param .align 8 .b8 r[{A}]) down(.param .align 8 .b8 n[{A}])
{ .reg .pred %p; .reg .b32 %n, %got; {L}
  ld.param.u32 %n, [n]; setp.eq.u32 %p, %n, 0; mov.u32 %got, 0; @%p bra END;
  sub.u32 %got, %n, 1;
  { .param .align 8 .b8 a[{A}]; .param .align 8 .b8 b[{A}]; st.param.b32 [a], %got; call.uni (b), down, (a);
    ld.param.b32 %got, [b]; }
  add.u32 %got, %got, 1;
END:
  st.param.b32 [r], %got;
  ret; }
.visible .entry k(.param .u64 p, .param .u64 others) {
  .reg .b32 %got; .reg .b64 %p;
  { .param .align 8 .b8 a[{A}]; .param .align 8 .b8 b[{A}]; st.param.b32 [a], {D}; call.uni (b), down, (a);
    ld.param.b32 %got, [b]; }
  ld.param.u64 %p, [p]; st.global.u32 [%p], %got; ret; }
)";
        text = replaced(text, "{L}", frame ? ".local .align 4 .b8 room[" + std::to_string(frame) + "];" : "");
        text = replaced(text, "{A}", std::to_string(argument));
        text = replaced(text, "{D}", std::to_string(depth));
        RunReport const t = run_crafted(text, 64);
        INFO(depth << " calls, frames of " << frame << ", arguments of " << argument << ": " << t.message());
        u64 const least = u64{depth} * (frame + 2 * argument);
        if (t.outcome.ending == Ending::done) {
          CHECK(least <= 65536 + 2 * argument);
        } else {
          CHECK(t.outcome.finding->kind == Finding::Kind::stack_overflow);
          CHECK((u64{depth} + 1) * (frame + 4 * argument + 256) > 65536);
        }
      }
}

TEST_CASE("alloca and what restores the stack stay within it") {
  auto const text = [](std::string const& body) {
    return ".visible .entry k(.param .u64 p, .param .u64 others) {\n .reg .b64 %saved, %room, %at, %size; .reg .b32 "
           "%lane; .reg .pred %p;\n mov.u32 %lane, %tid.x; stacksave.u64 %saved;\n" +
           body + " ret;\n}\n";
  };
  for (char const* size : {"0", "8", "1000", "65000"})
    for (char const* align : {"8", "16", "256"})
      for (auto const& [offset, inside] : std::initializer_list<std::pair<std::string, bool>>{
               {"sub.s64 %at, %at, 8;", true}, {"", false}, {"add.s64 %at, %at, 4096;", false}}) {
        std::string const body = std::string(" alloca.u64 %room, ") + size + ", " + align + "; add.s64 %at, %room, " +
                                 size + "; " + offset + " st.local.u64 [%at], 1;\n";
        RunReport const t = run_crafted(text(body), 64);
        INFO(body << t.message());
        bool const empty = std::string_view(size) == "0";  // then what lies before is unused
        if (!(empty && inside)) CHECK((t.outcome.ending == Ending::done) == inside);
      }
  for (char const* size : {"65537", "0x7fffffff", "0xffffffff", "0x100000000", "0x7fffffffffffffff", "-1", "-16"}) {
    RunReport const t =
        run_crafted(text(std::string(" mov.u64 %size, ") + size + "; alloca.u64 %room, %size, 16;\n"), 64);
    INFO(size << ": " << t.message());
    REQUIRE(t.outcome.finding);
    CHECK(t.outcome.finding->kind == Finding::Kind::stack_overflow);
  }
  for (auto const& [change, inside] :
       std::initializer_list<std::pair<std::string, bool>>{{"", true},
                                                           {"add.s64 %saved, %saved, 64;", true},
                                                           {"add.s64 %saved, %saved, 65;", false},
                                                           {"mov.u64 %saved, -1;", false},
                                                           {"add.s64 %saved, %saved, 0x100000000;", false},
                                                           {"sub.s64 %saved, %saved, 1;", false}}) {
    std::string const body = " alloca.u64 %room, 64, 8; " + change + " stackrestore.u64 %saved;\n";
    RunReport const t = run_crafted(text(body), 64);
    INFO(body << t.message());
    CHECK((t.outcome.ending == Ending::done) == inside);
    // What was given back is unused.
    if (change.empty())
      CHECK(run_crafted(text(body + " st.local.u64 [%room], 1;\n"), 64).outcome.ending == Ending::finding);
  }
}

namespace {
std::string const library = R"(
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.extern .func (.param .b64 p) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
.global .align 1 .b8 word[4] = {37, 115, 37, 0};
.global .align 1 .b8 endless[4] = {65, 65, 65, 65};
.global .align 1 .b8 wide[24] = {37, 50, 49, 52, 55, 52, 56, 51, 54, 52, 55, 46, 57, 57, 57, 57, 57, 57, 57, 57, 57, 100, 0, 0};
)";
std::string calling(std::string const& body) {
  return library +
         ".visible .entry k(.param .u64 p, .param .u64 others) {\n .reg .b64 %a, %b, %c; .reg .b32 %n, %i; .reg .pred "
         "%p;\n .local .align 8 .b8 l[64]; .shared .align 8 .b8 s[64];\n" +
         body + " ret;\n}\n";
}
std::string const print =
    " { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %a; st.param.b64 [a], %b; call.uni (r), "
    "vprintf, (f, a); ld.param.b32 %n, [r]; }\n";
}  // namespace

TEST_CASE("the device's library takes any address") {
  std::vector<std::string> const anywhere = {"0",
                                             "1",
                                             "word",
                                             "endless",
                                             "-1",
                                             "0x10000000000",
                                             "0x10000000040",
                                             "0x20000000000",
                                             "0x20000000040",
                                             "0x30000000000",
                                             "0x30000000010",
                                             "0x40000000010",
                                             "0x7000000000",
                                             "0x7fffffffffff0000",
                                             "wide"};
  for (std::string const& format : anywhere)
    for (std::string const& arguments : anywhere) {
      RunReport const t =
          run_crafted(calling(" mov.u64 %a, " + format + "; mov.u64 %b, " + arguments + ";\n" + print), 64);
      INFO(format << " " << arguments << ": " << t.message());
      CHECK(t.others_as_before);
      if (t.outcome.ending != Ending::done) CHECK(t.outcome.finding->kind == Finding::Kind::out_of_bounds);
    }
  for (std::string const& address : anywhere) {
    RunReport const t = run_crafted(
        calling(" mov.u64 %a, " + address + ";\n { .param .b64 p; st.param.b64 [p], %a; call.uni free, (p); }\n"), 64);
    INFO(address << ": " << t.message());
    CHECK((t.outcome.ending == Ending::done) == (address == "0"));
    if (address != "0") CHECK(t.outcome.finding->kind == Finding::Kind::invalid_free);
    RunReport const failed = run_crafted(
        calling(" mov.u64 %a, " + address +
                ";\n { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s; st.param.b64 [m], "
                "%a; st.param.b64 [f], %a; st.param.b32 [l], 1; st.param.b64 [n], %a; st.param.b64 [s], 1;\n "
                "call.uni __assertfail, (m, f, l, n, s); }\n"),
        64);
    CHECK(failed.outcome.ending == Ending::finding);
  }
}

TEST_CASE("the time limit holds where single instructions are long") {
  // Each would run for days; what is measured is that they end, and by which limit.
  std::string const loop = "AGAIN:\n{X} bra AGAIN;\n";
  for (std::string const& body :
       {replaced(" mov.u64 %a, wide; mov.u64 %b, 0;\n" + loop, "{X}", print),
        replaced(loop, "{X}",
                 " { .param .b64 n; .param .b64 p; st.param.b64 [n], 1; call.uni (p), malloc, (n); ld.param.b64 %a, "
                 "[p]; }\n"),
        replaced(
            loop, "{X}",
            " { .param .b64 n; .param .b64 p; st.param.b64 [n], 60000; call.uni (p), malloc, (n); ld.param.b64 %a, "
            "[p]; }\n { .param .b64 p; st.param.b64 [p], %a; call.uni free, (p); }\n"),
        replaced(loop, "{X}", " stacksave.u64 %a; alloca.u64 %b, 60000, 16; stackrestore.u64 %a;\n")}) {
    Bench b(calling(body));
    b.launch.block = {1024, 1, 1};
    b.buffer("aim", 64);
    b.buffer("others", 64);
    b.launch.print = [](std::string_view) {};
    b.memory.limit_heap(u64{1} << 30);
    b.run({}, {0, 0, 0.2});
    INFO(body);
    CHECK(b.outcome.ending == Ending::time_limit);
  }
}

TEST_CASE("what a kernel prints and allocates is bounded by the memory's limit") {
  // Text of later groups waits for that of earlier ones: it may not wait without end.
  std::string const endless = replaced(" mov.u64 %a, wide; mov.u64 %b, 0;\nAGAIN:\n{X} bra AGAIN;\n", "{X}", print);
  Bench b(calling(endless));
  b.launch.grid = {64, 1, 1};
  b.buffer("aim", 64);
  b.buffer("others", 64);
  u64 passed_on = 0;
  b.launch.print = [&](std::string_view text) { passed_on += text.size(); };
  b.run({}, {0, u64{8} << 20, 0}, 2);
  CHECK(b.outcome.ending == Ending::text_limit);
  CHECK(passed_on <= u64{10} << 20);
  // Blocks of one byte: what is held for them counts.
  std::string const greedy = R"(
 mov.u32 %i, 0;
AGAIN:
 { .param .b64 n; .param .b64 p; st.param.b64 [n], 1; call.uni (p), malloc, (n); ld.param.b64 %a, [p]; }
 add.u32 %i, %i, 1; setp.ne.u64 %p, %a, 0;
 @%p bra AGAIN;
 ld.param.u64 %b, [p]; st.global.u32 [%b], %i;
)";
  Bench small(calling(greedy));
  Memory memory(u64{4} << 20);
  memory.limit_heap(u64{1} << 30);
  std::vector<u64> const groups{0};
  small.launch.block = {1, 1, 1};
  u64 const out = memory.add("out", 64);
  small.argument(out);
  small.argument(out);
  REQUIRE(run(*small.program, small.launch, memory, groups, {}).ending == Ending::done);
  u32 blocks = 0;
  std::memcpy(&blocks, memory.bytes(out).data(), 4);
  CHECK(blocks > 1000);
  CHECK(blocks < (u32{4} << 20) / 64);
}

}  // namespace kernelcast::emu::test
