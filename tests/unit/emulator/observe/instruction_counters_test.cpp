// Counts per instruction and per block against those of the whole kernel, which other code makes.
#include <cstring>
#include <numeric>

#include "catch.hpp"
#include "emulator/observe/instruction_counters.hpp"
#include "emulator/observe/kernel_counters.hpp"
#include "kernels/ptx/parser.hpp"

using namespace kernelcast;
using namespace kernelcast::emu;

namespace {

// Each group has memory of its own, so that they do not race. Uncoalesced and broadcast loads, conflicts, guarded
// instructions, a loop that ends apart, a table, atomics, spills.
constexpr char const* text = R"(.version 7.5
.target sm_75
.address_size 64
.shared .align 8 .b8 tile[8192];
.visible .entry k(.param .u64 data)
{
  .local .align 8 .b8 stack[64];
  .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>; .reg .f32 %f<4>; .reg .b64 %d<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r10, %ctaid.x;
  mul.wide.u32 %rd4, %r10, 20480;
  add.s64 %rd1, %rd1, %rd4;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 68;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  ld.global.f32 %f2, [%rd1];
  and.b32 %r2, %r1, 7;
  setp.gt.u32 %p1, %r2, 3;
  @%p1 st.global.f32 [%rd3+4], %f2;
  shl.b32 %r3, %r1, 5;
  mov.u32 %r4, tile;
  add.u32 %r5, %r4, %r3;
  st.shared.u32 [%r5], %r1;
  ld.shared.v2.u32 {%r6, %r7}, [%r5];
  st.local.u32 [stack+8], %r6;
LOOP:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 6;
  @%p2 bra LOOP;
  and.b32 %r8, %r1, 1;
T: .branchtargets A, B;
  brx.idx %r8, T;
A:
  atom.global.add.u32 %r9, [%rd1], 1;
  bra.uni END;
B:
  @!%p1 red.shared.add.u32 [tile], 1;
END:
  bar.sync 0;
  ret;
}
)";

struct Both {
  std::unique_ptr<ptx::Module> module = ptx::parse(text, "test.ptx");
  Program program{*module, *module->find_kernel("k")};
  KernelObserver whole{program};
  InstructionObserver parts{program};

  explicit Both(unsigned threads) {
    Memory memory;
    std::uint64_t const address = memory.add("data", 12 * 20480);
    Launch launch;
    launch.grid = {12, 1, 1};
    launch.block = {200, 1, 1};
    launch.parameters.resize(8);
    std::memcpy(launch.parameters.data(), &address, 8);
    std::vector<std::uint64_t> groups(12);
    std::iota(groups.begin(), groups.end(), std::uint64_t{0});
    std::array<Observer*, 2> const observers{&whole, &parts};
    auto const outcome = emu::run(program, launch, memory, groups, observers, {}, threads);
    if (outcome.finding) FAIL(outcome.finding->message);
  }
};

}  // namespace

TEST_CASE("the sums over instructions are the kernel's counters") {
  Both const run(1);
  KernelCounters const k = run.whole.counters();
  InstructionCounters sum;
  for (auto const& c : run.parts.instructions()) sum.add(c);
  std::uint64_t issues = 0;
  for (auto const& by_width : k.issues) issues += by_width[1];
  CHECK(sum.inst == k.inst_total());
  CHECK(sum.issues_w32 == issues);
  CHECK(sum.global_bytes == k.global_load_bytes + k.global_store_bytes);
  CHECK(sum.global_tx == k.global_load_tx[1][0] + k.global_store_tx[1][0]);
  CHECK(sum.shared_bytes == k.shared_load_bytes + k.shared_store_bytes);
  CHECK(sum.shared_passes == k.shared_load_passes[1][1] + k.shared_store_passes[1][1]);
  CHECK(sum.local_bytes == k.local_load_bytes + k.local_store_bytes);
  CHECK(sum.branches == k.branches);
  CHECK(sum.divergent_branches_w32 == k.divergent_branches_w32);
  CHECK(sum.atomics == k.atomics_global + k.atomics_shared);
  // None of them is a sum of nothing.
  for (auto const n :
       {sum.inst, sum.global_tx, sum.shared_passes, sum.local_bytes, sum.divergent_branches_w32, sum.atomics})
    CHECK(n > 0);
}

TEST_CASE("an indirect branch counts once") {
  Both const run(1);
  auto const counters = run.parts.instructions();
  auto const& instructions = run.program.kernel().instructions;
  for (std::size_t i = 0; i < instructions.size(); ++i)
    if (instructions[i].is(ptx::Op::brx)) CHECK(counters[i].inst == 12 * 200);
}

TEST_CASE("transactions and passes beside their ideal") {
  Both const run(1);
  auto const counters = run.parts.instructions();
  auto const& instructions = run.program.kernel().instructions;
  auto const of = [&](std::string_view opcode, unsigned which) {
    for (std::size_t i = 0; i < instructions.size(); ++i)
      if (ptx::full_opcode(instructions[i]) == opcode && which-- == 0) return counters[i];
    return InstructionCounters{};
  };
  // 200 lanes 68 bytes apart: a sector each, where 32 lanes of 4 bytes would need 4.
  CHECK(of("ld.global.f32", 0).global_tx == 12 * 200);
  CHECK(of("ld.global.f32", 0).global_tx_ideal == 12 * (6 * 4 + 1));
  // All lanes the same address: one sector per warp, and no way to do with less.
  CHECK(of("ld.global.f32", 1).global_tx == 12 * 7);
  CHECK(of("ld.global.f32", 1).global_tx_ideal == 12 * 7);
  // 32 bytes apart: 8 lanes to a bank. Words of 8 bytes: two requests of 16 lanes, 4 lanes to a bank each.
  CHECK(of("st.shared.u32", 0).shared_passes == 12 * (6 * 8 + 2));
  CHECK(of("st.shared.u32", 0).shared_passes_ideal == 12 * 7);
  CHECK(of("ld.shared.v2.u32", 0).shared_passes == 12 * (6 * 8 + 2));
  CHECK(of("ld.shared.v2.u32", 0).shared_passes_ideal == 12 * (6 * 2 + 1));
}

TEST_CASE("blocks: work-items, warps and groups that entered") {
  Both const run(1);
  auto const& blocks = run.parts.blocks();
  CHECK(blocks[0].lanes == 12 * 200);
  CHECK(blocks[0].warps == 12 * 7);
  CHECK(blocks[0].groups == 12);
  std::uint64_t lanes = 0;
  for (auto const& c : run.parts.instructions()) lanes += c.issues_w32;
  std::uint64_t by_blocks = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b)
    by_blocks += blocks[b].warps * (run.program.blocks()[b].last - run.program.blocks()[b].first);
  CHECK(lanes == by_blocks);
}

TEST_CASE("counts per instruction do not depend on the number of threads") {
  Both const one(1), three(3);
  CHECK(one.parts.instructions() == three.parts.instructions());
  CHECK(one.parts.blocks() == three.parts.blocks());
}
