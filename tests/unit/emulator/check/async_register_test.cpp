// Registers and tensor memory that asynchronous operations work on: small kernels, each with the place of its first
// finding by [ptx] "wgmma.mma_async", "tcgen05.wait" and "tcgen05.commit".
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "catch.hpp"
#include "emulator/check/check.hpp"
#include "kernels/ptx/parser.hpp"

using namespace kernelcast;
using namespace kernelcast::emu;

namespace {

// A line of the body that begins with "!" is where the first finding is; no such line: there is none.
struct Kernel {
  std::string name, body;
};

int lines_of(std::string const& text) {
  return static_cast<int>(std::ranges::count(text, '\n'));
}

void check_kernel(std::string const& before, Kernel const& k, std::string const& after) {
  std::string body = k.body;
  auto const mark = body.starts_with('!') ? 0 : body.find("\n!");
  int const expected =
      mark == std::string::npos ? 0 : lines_of(before) + lines_of(body.substr(0, mark + (mark ? 1 : 0))) + 1;
  if (mark != std::string::npos) body[mark ? mark + 1 : 0] = ' ';
  auto const module = ptx::parse(before + body + after, "registers.ptx");
  Program const program(*module, *module->find_kernel("k"));
  CAPTURE(k.name, before + body + after);
  REQUIRE(program.refused().empty());
  Memory memory{std::uint64_t{1} << 24};
  Launch launch;
  launch.block = {128, 1, 1};
  launch.grid = {1, 1, 1};
  std::uint64_t const buffer = memory.add("p", 4096);
  launch.parameters.resize(sizeof buffer);
  std::memcpy(launch.parameters.data(), &buffer, sizeof buffer);
  Checks checks({.races = true, .findings = 100, .stops = false}, memory);
  checks.begin(program, launch);
  Observer* observers[] = {&checks};
  std::uint64_t const groups[] = {0};
  REQUIRE(run(program, launch, memory, groups, observers).ending == Ending::done);
  auto const& found = checks.findings();
  for (Finding const& f : found) CHECK(f.kind == Finding::Kind::in_flight);
  CHECK(found.empty() == (expected == 0));
  if (!found.empty()) {
    CAPTURE(found[0].message);
    CHECK(static_cast<int>(found[0].at.line) == expected);
  }
}

}  // namespace

TEST_CASE("registers of wgmma are in flight until their group was waited for") {
  std::string const before =
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
      ".reg .b32 %r<8>; .reg .b32 %a<8>; .reg .f32 %d<4>, %e<4>, %c<4>; .reg .b64 %m<4>; .reg .pred %p<2>;\n"
      ".shared .align 128 .b8 s[4096];\n"
      "mov.u32 %r0, s; shr.u32 %r0, %r0, 4; cvt.u64.u32 %m0, %r0; or.b64 %m0, %m0, 0x1000080000;\n"
      "mov.u32 %a0, 0; mov.u32 %a1, 0; mov.u32 %a2, 0; mov.u32 %a3, 0; setp.eq.u32 %p0, %r0, 0xffff;\n"
      "wgmma.fence.sync.aligned;\n";
  std::string const after = "wgmma.wait_group.sync.aligned 0;\nret;\n}\n";
  auto const multiply = [](std::string const& d) {
    return "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%" + d + "0,%" + d + "1,%" + d + "2,%" + d +
           "3}, %m0, %m0, 1, 1, 1, 0, 0;\n";
  };
  std::string const with_a =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2,%d3}, {%a0,%a1,%a2,%a3}, %m0, 1, 1, 1, 0;\n";
  std::string const commit = "wgmma.commit_group.sync.aligned;\n";
  auto const wait = [](int n) { return "wgmma.wait_group.sync.aligned " + std::to_string(n) + ";\n"; };
  std::string const two = multiply("d") + commit + multiply("e") + commit;
  Kernel const kernels[] = {
      {"waited for", multiply("d") + commit + wait(0) + "add.f32 %c0, %d0, %d1;\n"},
      {"not waited for", multiply("d") + commit + "!add.f32 %c0, %d0, %d1;\n"},
      {"not committed", multiply("d") + wait(0) + "!add.f32 %c0, %d0, %d1;\n"},
      {"the first of two groups", two + wait(1) + "add.f32 %c0, %d0, %d1;\n"},
      {"the second of two groups", two + wait(1) + "add.f32 %c0, %d0, %d1;\n!add.f32 %c0, %e0, %d1;\n"},
      {"sums of sums",
       multiply("d") + multiply("d") + commit + multiply("d") + commit + wait(0) + "add.f32 %c0, %d0, %d1;\n"},
      {"a copy, used late", multiply("d") + commit + "mov.f32 %c0, %d0;\n" + wait(0) + "add.f32 %c1, %c0, %c0;\n"},
      {"a copy, used early",
       multiply("d") + commit + "mov.f32 %c0, %d0;\nmov.f32 %c1, %c0;\n!add.f32 %c2, %c1, %c1;\n"},
      {"overwritten", multiply("d") + commit + "!mov.f32 %d0, 0f00000000;\n"},
      {"guarded, executed", multiply("d") + commit + "!@!%p0 add.f32 %c0, %d0, %d1;\n"},
      {"guarded, not executed", multiply("d") + commit + "@%p0 add.f32 %c0, %d0, %d1;\n"},
      {"in another block", multiply("d") + commit + "bra next;\nnext:\n!add.f32 %c0, %d0, %d1;\n"},
      {"a fragment, read", with_a + commit + "add.u32 %r2, %a0, %a1;\n"},
      {"a fragment, written", with_a + commit + "!add.u32 %a0, %r0, 1;\n"},
      {"a fragment, written late", with_a + commit + wait(0) + "add.u32 %a0, %r0, 1;\n"},
      {"sums as a fragment", multiply("d") + commit + "mov.b32 %a0, %d0;\n!" + with_a + commit},
  };
  for (Kernel const& k : kernels) check_kernel(before, k, after);
}

TEST_CASE("tensor memory and results of loads are in flight until they were waited for") {
  std::string const before =
      ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
      ".reg .b32 %r<16>; .reg .b64 %m<8>; .reg .pred %p, %q, %one, %no;\n"
      ".shared .align 128 .b8 s[8192]; .shared .align 8 .b64 bar; .shared .align 4 .b32 at;\n"
      "mov.u32 %r1, %tid.x; setp.lt.u32 %p, %r1, 32; setp.eq.u32 %one, %r1, 0; mov.pred %no, 0;\n"
      "@%p tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [at], 64;\n"
      "@%one mbarrier.init.shared::cta.b64 [bar], 1;\n"
      "bar.sync 0; ld.shared.u32 %r6, [at]; shr.u32 %r9, %r1, 5; shl.b32 %r9, %r9, 21; add.u32 %r9, %r9, %r6;\n"
      "mov.u32 %r2, s; shr.u32 %r7, %r2, 4; cvt.u64.u32 %m2, %r7; add.u64 %m3, %m2, 0x401000080000;\n"
      "mov.u32 %r8, 0x08100010; mov.u32 %r11, 0;\n";
  std::string const after = "bar.sync 0;\n@%p tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r6, 64;\nret;\n}\n";
  std::string const load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10}, [%r9];\n", use = "add.u32 %r12, %r10, 1;\n",
                    store = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r9], {%r1};\n",
                    loaded = "tcgen05.wait::ld.sync.aligned;\n", stored = "tcgen05.wait::st.sync.aligned;\n",
                    barrier = "bar.sync 0;\n",
                    multiply = "@%one tcgen05.mma.cta_group::1.kind::f16 [%r6], %m3, %m3, %r8, %no;\n",
                    commit = "@%one tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\n",
                    wait = "again:\nmbarrier.try_wait.parity.shared::cta.b64 %q, [bar], 0;\n@!%q bra again;\n";
  Kernel const kernels[] = {
      {"all waited for", store + stored + load + loaded + use},
      {"a store not waited for", store + "!" + load + loaded + use},
      {"a load not waited for", store + stored + load + "!" + use + barrier + loaded},
      {"a use moved before the wait", store + stored + load + use + loaded},
      {"a use moved past a label", store + stored + load + use + "label:\n" + loaded},
      {"a product after a store", store + stored + barrier + multiply + commit + wait + load + loaded + use},
      {"a product after a store not waited for", store + barrier + "!" + multiply + commit + wait},
      {"a load after a product", multiply + commit + wait + load + loaded + use},
      {"a load after a product not waited for", multiply + barrier + "!" + load + loaded},
      {"a load after a product not committed",
       "@%one mbarrier.arrive.shared::cta.b64 _, [bar];\n" + multiply + wait + "!" + load + loaded},
      {"a product after products", multiply + multiply + commit + wait + load + loaded},
      {"a product after a load", store + stored + load + loaded + barrier + multiply + commit + wait},
      {"a product after a load not waited for", store + stored + load + barrier + "!" + multiply + commit + wait},
      {"a store after a product", multiply + commit + wait + store + stored},
      {"a store after a product not waited for", multiply + barrier + "!" + store + stored},
  };
  for (Kernel const& k : kernels) check_kernel(before, k, after);
}
