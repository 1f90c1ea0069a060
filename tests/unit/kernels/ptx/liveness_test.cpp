// Live ranges against a search over paths: a register is live where some path reads it before it is overwritten.
#include "kernels/ptx/liveness.hpp"

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "catch.hpp"
#include "kernels/ptx/kernel_registers.hpp"
#include "kernels/ptx/parser.hpp"
#include "samples.hpp"

using namespace kernelcast::ptx;

namespace {

RegistersNeeded needed(std::string const& body) {
  return registers_needed(parse(samples::kernel(body), "k.ptx")->functions[0]);
}

std::vector<std::uint32_t> after(Function const& f, Cfg const& cfg, std::uint32_t i) {
  auto const& block = cfg.blocks[cfg.block_of[i]];
  if (i + 1 < block.last) return {i + 1};
  std::vector<std::uint32_t> out;
  for (auto b : block.successors) out.push_back(cfg.blocks[b].first);
  (void)f;
  return out;
}

// Depth-first over instructions, one register at a time.
bool live_before(Function const& f, Cfg const& cfg, std::uint32_t at, std::uint32_t reg) {
  std::vector<bool> seen(f.instructions.size(), false);
  std::vector<std::uint32_t> stack{at};
  seen[at] = true;
  while (!stack.empty()) {
    auto const i = stack.back();
    stack.pop_back();
    auto const effect = effects(f.instructions[i]);
    if (std::count(effect.read.begin(), effect.read.end(), reg)) return true;
    if (std::count(effect.written_whole.begin(), effect.written_whole.end(), reg)) continue;
    for (auto to : after(f, cfg, i))
      if (!seen[to]) seen[to] = true, stack.push_back(to);
  }
  return false;
}

std::string random_body(std::mt19937& random) {
  std::string body = ".reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<3>;\n";
  auto const r = [&] { return fmt::format("%r{}", random() % 5); };
  unsigned const count = 3 + random() % 12;
  for (unsigned i = 0; i < count; ++i) {
    body += fmt::format("L{}: ", i);
    if (random() % 5 == 0) body += fmt::format("@%p{} ", random() % 3);
    switch (random() % 7) {
      case 0:
        body += fmt::format("bra L{};\n", random() % count);
        break;
      case 1:
        body += fmt::format("setp.lt.s32 %p{}, {}, {};\n", random() % 3, r(), r());
        break;
      case 2:
        body += fmt::format("cvt.u64.u32 %rd{}, {};\n", random() % 3, r());
        break;
      case 3:
        body += fmt::format("st.global.u32 [%rd{}], {};\n", random() % 3, r());
        break;
      case 4:
        body += fmt::format("mov.b32 {}, 1;\n", r());
        break;
      case 5:
        body += random() % 3 ? fmt::format("mov.b64 {{{}, {}}}, %rd1;\n", r(), r()) : "ret;\n";
        break;
      default:
        body += fmt::format("add.s32 {}, {}, {};\n", r(), r(), r());
    }
  }
  return body + "ret;";
}

}  // namespace

TEST_CASE("closed cases of registers needed") {
  CHECK(needed(".reg .b32 a, b, c; mov.b32 a, %tid.x; mov.b32 b, %tid.x; add.s32 c, a, b; st.global.u32 [c], c; ret;")
            .registers == 2);
  CHECK(needed(".reg .b64 a, b; mov.b64 a, %tid.x; mov.b64 b, %tid.x; st.global.u64 [a], b; ret;").registers == 4);
  CHECK(needed(".reg .v4 .f32 v; .reg .b64 a; ld.global.v4.f32 v, [a]; st.global.v4.f32 [a], v; ret;").registers == 6);
  CHECK(
      needed(".reg .b8 a; .reg .b16 b; mov.b16 a, %tid.x; mov.b16 b, %tid.x; st.u8 [0], a; st.u16 [0], b;").registers ==
      2);
  auto const predicates =
      needed(".reg .pred p, q; .reg .b32 r; mov.b32 r, %tid.x; setp.eq.s32 p|q, r, 1; @p ret; @q ret;");
  CHECK(predicates.predicates == 2);
  CHECK(predicates.registers == 1);
  CHECK(needed(".reg .b32 a; mov.b32 a, %tid.x; ret;").registers == 1);  // never read, yet written
  // The value of `a` must survive a guarded write to it.
  CHECK(needed(".reg .pred p; .reg .b32 a, b; mov.b32 a, %tid.x; mov.b32 b, %tid.x; @p mov.b32 a, b; st.u32 [0], a;")
            .registers == 2);
  // Alive around a loop.
  CHECK(needed(".reg .pred p; .reg .b32 a, i; mov.b32 a, %tid.x; mov.b32 i, %tid.x;"
               "T: add.s32 i, i, 1; setp.lt.s32 p, i, 9; @p bra T; st.u32 [0], a;")
            .registers == 2);
  // Parameters and constants are operands, unless they are written again.
  CHECK(needed(".reg .b64 a, b; .reg .b32 c; mov.b64 a, 8; mov.b64 b, a; mov.b32 c, %tid.x; st.global.u32 [b], c; ret;")
            .registers == 1);
  CHECK(needed(".reg .b32 a, c; mov.b32 a, 1; mov.b32 c, %tid.x; mov.b32 a, 2; st.global.u32 [a], c; ret;").registers ==
        2);
}

TEST_CASE("live ranges of 1500 random functions agree with a search over paths") {
  std::mt19937 random(11);
  for (int round = 0; round < 1500; ++round) {
    auto const text = samples::kernel(random_body(random));
    auto const m = parse(text, "random.ptx");
    auto const& f = m->functions[0];
    auto const cfg = build_cfg(f);
    auto const live = live_registers(f, cfg);
    auto const operands = operands_of(f);
    INFO(text);
    std::uint32_t most = 0;
    for (std::uint32_t b = 0; b < cfg.blocks.size(); ++b) {
      for (std::uint32_t reg = 0; reg < f.registers.size(); ++reg) {
        REQUIRE(live.live_in[b].contains(reg) == live_before(f, cfg, cfg.blocks[b].first, reg));
        bool out = false;
        for (auto to : cfg.blocks[b].successors) out = out || live.live_in[to].contains(reg);
        REQUIRE(live.live_out[b].contains(reg) == out);
      }
      if (!cfg.blocks[b].reachable) continue;
      for (auto i = cfg.blocks[b].first; i < cfg.blocks[b].last; ++i) {
        std::uint32_t before = 0, behind = 0;
        auto const effect = effects(f.instructions[i]);
        for (std::uint32_t reg = 0; reg < f.registers.size(); ++reg) {
          auto const width = operands.contains(reg) ? 0 : width_registers(f.registers[reg]);
          if (live_before(f, cfg, i, reg)) before += width;
          bool alive = std::count(effect.written.begin(), effect.written.end(), reg) > 0;
          for (auto to : after(f, cfg, i)) alive = alive || live_before(f, cfg, to, reg);
          if (alive) behind += width;
        }
        most = std::max({most, before, behind});
      }
    }
    REQUIRE(registers_needed(f).registers == most);
  }
}

// Of calls that are put in line what lives across them is added; functions that are called by address have registers of
// their own, and the largest counts.
TEST_CASE("the registers of a kernel are those of all that it calls") {
  std::string const wide =
      ".func wide(.param .u64 to) { .reg .u64 %r<2>; .reg .u32 %a<6>; ld.param.u64 %r0, [to];\n"
      "ld.u32 %a0, [%r0]; ld.u32 %a1, [%r0+4]; ld.u32 %a2, [%r0+8]; ld.u32 %a3, [%r0+12]; ld.u32 %a4, [%r0+16];\n"
      "st.u32 [%r0+20], %a0; st.u32 [%r0+24], %a1; st.u32 [%r0+28], %a2; st.u32 [%r0+32], %a3; st.u32 [%r0+36], %a4; "
      "}\n";
  auto const of_kernel = [&](std::string const& call) {
    auto const m = parse(".version 7.0\n.target sm_80\n.address_size 64\n" + wide +
                             ".entry k(.param .u64 p) { .reg .u64 %r<3>; .reg .u32 %a<4>; .param .u64 x;\n"
                             "ld.param.u64 %r0, [p]; ld.u32 %a0, [%r0]; ld.u32 %a1, [%r0+4]; ld.u32 %a2, [%r0+8];\n"
                             "st.param.u64 [x], %r0;\n" +
                             call + "\nst.u32 [%r0], %a0; st.u32 [%r0+4], %a1; st.u32 [%r0+8], %a2; }\n",
                         "k.ptx");
    return kernel_registers(*m, *m->find_kernel("k"));
  };
  auto const own = of_kernel("");
  CHECK(own == 3);  // the address is an operand
  CHECK(of_kernel("call.uni wide, (x);") == own + 5);
  CHECK(of_kernel("mov.u64 %r1, wide; P: .callprototype _ (.param .u64 _); call %r1, (x), P;") == 5);
}
