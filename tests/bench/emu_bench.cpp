// Speed of the emulator's core without observers, in executed instructions of work-items a second: arithmetic of both
// widths, the paths of memory accesses, divergence, barriers, and the fixed costs of decoding and launching.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <string>

#include "emulator/check/check.hpp"
#include "emulator/emu.hpp"
#include "kernels/ptx/parser.hpp"

namespace {

using namespace kernelcast;

std::string const head =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
    ".reg .b32 %r<16>; .reg .f32 %f<16>; .reg .f64 %d<8>; .reg .b64 %a<16>; .reg .pred %p<4>; .shared .align 16 .b8 "
    "s[4096];\n"
    "ld.param.u64 %a0, [in]; ld.param.u64 %a1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, 0; mov.u32 %r5, 1;\n"
    "mul.wide.u32 %a2, %r0, 4; add.s64 %a3, %a0, %a2; add.s64 %a4, %a1, %a2; ld.global.f32 %f0, [%a3]; cvt.f64.f32 "
    "%d0, %f0;\n"
    "shl.b32 %r2, %r0, 2; mov.u32 %r3, s; add.s32 %r4, %r3, %r2; st.shared.f32 [%r4], %f0; bar.sync 0;\nL:\n";
std::string const tail =
    "add.s32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 1000; @%p0 bra L;\n"
    "cvt.rn.f32.f64 %f1, %d0; add.f32 %f0, %f0, %f1; cvt.rn.f32.s32 %f1, %r5; add.f32 %f0, %f0, %f1; st.global.f32 "
    "[%a4], %f0; ret; }\n";

std::string repeated(std::string const& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

struct Executed : emu::Observer {
  emu::Program const& program;
  std::uint64_t lanes = 0;
  explicit Executed(emu::Program const& p) : program(p) {}
  void block(std::uint32_t b, emu::Lanes const& l) override {
    for (std::uint32_t w = 0; w < l.warps; ++w)
      lanes += static_cast<std::uint64_t>(__builtin_popcount(l.masks[w])) *
               (program.blocks()[b].last - program.blocks()[b].first);
  }
  std::unique_ptr<Observer> fork() const override { return std::make_unique<Executed>(program); }
  void join(Observer const& o) override { lanes += static_cast<Executed const&>(o).lanes; }
};

struct Work {
  std::unique_ptr<ptx::Module> module;
  emu::Program program;
  emu::Memory memory{std::uint64_t{1} << 28};
  emu::Launch launch;
  std::vector<std::uint64_t> groups;
  explicit Work(std::string const& text, std::uint32_t count = 4)
      : module(ptx::parse(text, "bench.ptx")), program(*module, *module->find_kernel("k")) {
    launch.block = {256, 1, 1};
    launch.grid = {count, 1, 1};
    groups.resize(count);
    std::iota(groups.begin(), groups.end(), std::uint64_t{0});
    std::uint64_t const arguments[] = {memory.add("in", 1 << 20), memory.add("out", 1 << 20)};
    launch.parameters.resize(sizeof arguments);
    std::memcpy(launch.parameters.data(), arguments, sizeof arguments);
  }
};

void body(benchmark::State& state, std::string const& loop) {
  Work work(head + loop + tail);
  Executed executed(work.program);
  emu::Observer* observers[] = {&executed};
  emu::run(work.program, work.launch, work.memory, work.groups, observers);
  for (auto _ : state) emu::run(work.program, work.launch, work.memory, work.groups, {});
  state.counters["instructions"] = benchmark::Counter(
      static_cast<double>(executed.lanes) * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

// The same under checks: the time without them is that of `body`.
void checked(benchmark::State& state, std::string const& loop, emu::CheckOptions const& options) {
  Work work(head + loop + tail);
  emu::Checks checks(options, work.memory);
  emu::Observer* observers[] = {&checks};
  for (auto _ : state) {
    checks.begin(work.program, work.launch);
    emu::run(work.program, work.launch, work.memory, work.groups, observers);
  }
}

// Calls that are executed: eight deep, with a frame that each writes and reads.
void recursion(benchmark::State& state) {
  Work work(R"(.version 8.0
.target sm_75
.address_size 64
.func (.param .b32 r) down(.param .b32 n)
{ .reg .pred %p; .reg .b32 %n, %got; .local .align 8 .b8 room[64];
  ld.param.u32 %n, [n]; st.local.u32 [room+8], %n; setp.eq.u32 %p, %n, 0; mov.u32 %got, 0; @%p bra END;
  sub.u32 %got, %n, 1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %got; call.uni (b), down, (a); ld.param.b32 %got, [b]; }
END:
  ld.local.u32 %n, [room+8]; add.u32 %got, %got, %n; st.param.b32 [r], %got;
  ret; }
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<4>; .reg .pred %p; mov.u32 %r0, 0;
L:
  { .param .b32 a; .param .b32 b; st.param.b32 [a], 8; call.uni (b), down, (a); ld.param.b32 %r1, [b]; }
  add.u32 %r0, %r0, 1; setp.lt.u32 %p, %r0, 20; @%p bra L;
  ret; }
)",
            1);
  for (auto _ : state) emu::run(work.program, work.launch, work.memory, work.groups, {});
}

void decode(benchmark::State& state) {
  auto const module = ptx::parse(head + repeated("fma.rn.f32 %f0, %f0, %f1, %f2;\n", 100) + tail, "bench.ptx");
  for (auto _ : state) benchmark::DoNotOptimize(emu::Program(*module, *module->find_kernel("k")));
}

void launch(benchmark::State& state) {
  Work work(
      ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) { ret; }\n",
      1);
  for (auto _ : state) emu::run(work.program, work.launch, work.memory, work.groups, {});
}

}  // namespace

BENCHMARK_CAPTURE(body, fma_f32, repeated("fma.rn.f32 %f0, %f0, %f0, %f0;\n", 16));
BENCHMARK_CAPTURE(body, fma_f64, repeated("fma.rn.f64 %d0, %d0, %d0, %d0;\n", 16));
BENCHMARK_CAPTURE(body, add_s32, repeated("add.s32 %r5, %r5, %r0;\n", 16));
BENCHMARK_CAPTURE(body, divide_u32, repeated("div.u32 %r5, %r1, %r5;\n", 16));
BENCHMARK_CAPTURE(body, load_adjacent,
                  repeated("add.s32 %r5, %r0, %r1; mul.wide.u32 %a5, %r5, 4; add.s64 %a6, %a0, %a5; ld.global.f32 %f1, "
                           "[%a6]; add.f32 %f0, %f0, %f1;\n",
                           4));
BENCHMARK_CAPTURE(body, load_strided,
                  repeated("mad.lo.s32 %r5, %r0, 9, %r1; mul.wide.u32 %a5, %r5, 4; add.s64 %a6, %a0, %a5; "
                           "ld.global.f32 %f1, [%a6]; add.f32 %f0, %f0, %f1;\n",
                           4));
BENCHMARK_CAPTURE(body, load_shared,
                  repeated("ld.shared.f32 %f1, [%r4]; ld.shared.f32 %f2, [s+64]; fma.rn.f32 %f0, %f1, %f2, %f0;\n", 4));
BENCHMARK_CAPTURE(body, store_shared_and_wait, "st.shared.f32 [%r4], %f0; bar.sync 0;\n");
BENCHMARK_CAPTURE(body, divergent,
                  "and.b32 %r5, %r0, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra A; add.f32 %f0, %f0, %f0; bra B;\nA: mul.f32 "
                  "%f0, %f0, %f0;\nB:\n");
BENCHMARK_CAPTURE(body, guarded, "setp.lt.u32 %p1, %r0, 100; @%p1 add.f32 %f0, %f0, %f0;\n");
BENCHMARK_CAPTURE(checked, races_shared, "ld.shared.f32 %f1, [%r4]; fma.rn.f32 %f0, %f1, %f1, %f0; bar.sync 0;\n",
                  {.races = true});
BENCHMARK_CAPTURE(checked, races_global, "ld.global.f32 %f1, [%a3]; fma.rn.f32 %f0, %f1, %f1, %f0;\n", {.races = true});
BENCHMARK_CAPTURE(checked, uninit_shared, "ld.shared.f32 %f1, [%r4]; fma.rn.f32 %f0, %f1, %f1, %f0; bar.sync 0;\n",
                  {.uninit = true});
BENCHMARK_CAPTURE(body, unchecked_shared, "ld.shared.f32 %f1, [%r4]; fma.rn.f32 %f0, %f1, %f1, %f0; bar.sync 0;\n");
BENCHMARK_CAPTURE(body, unchecked_global, "ld.global.f32 %f1, [%a3]; fma.rn.f32 %f0, %f1, %f1, %f0;\n");
BENCHMARK(recursion)->Unit(benchmark::kMicrosecond);
BENCHMARK(decode)->Unit(benchmark::kMicrosecond);
BENCHMARK(launch)->Unit(benchmark::kMicrosecond);
