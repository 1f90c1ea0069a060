// Every counter of the kernel record against closed forms, on kernels written for it, through parser and emulator.
#include <cstring>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "emulator/observe/kernel_counters.hpp"
#include "kernels/ptx/parser.hpp"

using namespace kernelcast;
using namespace kernelcast::emu;

namespace {

// A module with one kernel. Declared for all: %r0..63, %rd0..31, %p0..7, %tid.x in %r0, the global index in %r1.
std::string kernel(std::string const& parameters, std::string const& body, std::string const& variables = {}) {
  return ".version 7.5\n.target sm_75\n.address_size 64\n" + variables + "\n.visible .entry k(" + parameters +
         ")\n{\n.reg .b32 %r<64>;\n.reg .b64 %rd<32>;\n.reg .pred %p<8>;\n"
         "mov.u32 %r0, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmad.lo.s32 %r1, %r2, %r3, %r0;\n" +
         body + "\nret;\n}\n";
}
constexpr std::uint64_t frame = 5;  // the instructions that kernel() adds

class Run {
 public:
  template <class T>
  Run& argument(T value) {
    std::size_t const at = (parameters_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    parameters_.resize(at + sizeof(T));
    std::memcpy(parameters_.data() + at, &value, sizeof(T));
    return *this;
  }
  std::uint64_t buffer(std::uint64_t bytes) { return memory.add("buffer", bytes); }

  KernelCounters operator()(std::string const& text, std::uint32_t groups, std::uint32_t lanes, unsigned threads = 1) {
    auto const module = ptx::parse(text, "test.ptx");
    auto const* const function = module->find_kernel("k");
    REQUIRE(function);
    Program const program(*module, *function);
    KernelObserver observer(program);
    Launch launch;
    launch.grid = {groups, 1, 1};
    launch.block = {lanes, 1, 1};
    launch.parameters = parameters_;
    launch.parameters.resize(function->parameter_bytes);
    std::vector<std::uint64_t> all(groups);
    std::iota(all.begin(), all.end(), std::uint64_t{0});
    std::array<Observer*, 1> const observers{&observer};
    auto const outcome = emu::run(program, launch, memory, all, observers, {}, threads);
    if (outcome.finding) FAIL(outcome.finding->message);
    REQUIRE(outcome.ending == Ending::done);
    spread = observer.spread_pct();
    return observer.counters();
  }

  Memory memory;
  std::optional<double> spread;

 private:
  std::vector<std::byte> parameters_;
};

std::string const strided_text = kernel(".param .u64 buf, .param .u32 step",
                                        "ld.param.u64 %rd1, [buf];\nld.param.u32 %r4, [step];\n"
                                        "mul.lo.s32 %r5, %r1, %r4;\nmul.wide.s32 %rd2, %r5, 4;\n"
                                        "add.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r6, [%rd3];\n"
                                        "st.global.u32 [%rd3], %r6;");

// Segments that lanes 0..lanes-1 of every wavefront touch at a stride, summed over all wavefronts.
std::uint64_t strided_segments(std::uint64_t total, std::uint64_t width, std::uint64_t stride, std::uint64_t segment) {
  std::uint64_t sum = 0;
  for (std::uint64_t first = 0; first < total; first += width)
    sum += stride >= segment ? width : (first + width - 1) * stride / segment - first * stride / segment + 1;
  return sum;
}

// Shared memory of 8 KiB; `address` computes %r10 from %r0, the access follows.
std::string shared_kernel(std::string const& address, std::string const& access) {
  return kernel("", address + "\nmov.u32 %r11, s;\nadd.s32 %r10, %r10, %r11;\n" + access,
                ".shared .align 16 .b8 s[16384];");
}

}  // namespace

TEST_CASE("coalesced and strided global accesses") {
  for (std::uint32_t step = 1; step <= 33; ++step) {
    Run run;
    std::uint64_t const items = 4 * 96;  // groups of three warps
    auto const k = run.argument(run.buffer(items * step * 4)).argument(step)(strided_text, 4, 96);
    INFO("step " << step);
    CHECK(k.global_load_bytes == 4 * items);
    CHECK(k.global_store_bytes == 4 * items);
    for (unsigned w = 0; w < 3; ++w)
      for (unsigned s = 0; s < 3; ++s) {
        // A group's third warp stands alone in its wavefront of 64.
        std::uint64_t expected = 0;
        if (w < 2)
          expected = strided_segments(items, 16u << w, 4 * step, 32u << s);
        else
          for (std::uint64_t group = 0; group < 4; ++group) {
            auto const span = [&](std::uint64_t first, std::uint64_t lanes) {
              std::uint64_t const begin = (96 * group + first) * 4 * step, segment = 32u << s;
              return 4 * step >= segment ? lanes : (begin + (lanes - 1) * 4 * step) / segment - begin / segment + 1;
            };
            expected += span(0, 64) + span(64, 32);
          }
        CHECK(k.global_load_tx[w][s] == expected);
        CHECK(k.global_store_tx[w][s] == expected);
      }
    CHECK(k.global_footprint_bytes == 32 * strided_segments(items, items, 4 * step, 32));
    CHECK(k.param_bytes == 12 * items);
    CHECK(k.inst_total() == (frame + 7) * items);
    CHECK(k.issues[Class::memory] == std::array<std::uint64_t, 3>{4 * 6 * 4, 4 * 3 * 4, 4 * 2 * 4});
    if (step == 1) CHECK(k.global_load_cc13 == std::array<std::uint64_t, 3>{0, items / 16, 0});
    if (step == 2) CHECK(k.global_load_cc13 == std::array<std::uint64_t, 3>{0, 0, items / 16});
    if (step == 32) CHECK(k.global_load_cc13 == std::array<std::uint64_t, 3>{items, 0, 0});
  }
}

TEST_CASE("a broadcast is one transaction per wavefront") {
  Run run;
  auto const k = run.argument(run.buffer(64)).argument(std::uint32_t{0})(strided_text, 2, 128);
  CHECK(k.global_load_tx[0] == std::array<std::uint64_t, 3>{16, 16, 16});
  CHECK(k.global_load_tx[1] == std::array<std::uint64_t, 3>{8, 8, 8});
  CHECK(k.global_load_tx[2] == std::array<std::uint64_t, 3>{4, 4, 4});
  CHECK(k.global_load_cc13 == std::array<std::uint64_t, 3>{16, 0, 0});
  CHECK(k.global_footprint_bytes == 32);
}

TEST_CASE("random global accesses equal the naive count of their indices") {
  Run run;
  std::uint32_t const items = 1024, words = 3000;
  auto const indices = run.buffer(items * 4), data = run.buffer(words * 4);
  std::vector<std::uint32_t> index(items);
  std::mt19937 random(5);
  for (auto& i : index) i = static_cast<std::uint32_t>(random() % words);
  std::memcpy(run.memory.bytes(indices).data(), index.data(), items * 4);
  auto const k = run.argument(indices).argument(data)(
      kernel(".param .u64 indices, .param .u64 data",
             "ld.param.u64 %rd1, [indices];\nld.param.u64 %rd2, [data];\nmul.wide.u32 %rd3, %r1, 4;\n"
             "add.s64 %rd4, %rd1, %rd3;\nld.global.u32 %r4, [%rd4];\nmul.wide.u32 %rd5, %r4, 4;\n"
             "add.s64 %rd6, %rd2, %rd5;\nld.global.f32 %r5, [%rd6];\nst.global.f32 [%rd6], %r5;"),
      4, 256);
  std::set<std::uint64_t> touched;
  for (unsigned w = 0; w < 3; ++w)
    for (unsigned s = 0; s < 3; ++s) {
      std::uint64_t expected = 0;
      for (std::uint32_t first = 0; first < items; first += 16u << w) {
        std::set<std::uint64_t> segments;
        for (std::uint32_t l = first; l < first + (16u << w); ++l) {
          segments.insert((data + 4 * index[l]) / (32u << s));
          touched.insert((data + 4 * index[l]) / 32);
        }
        expected += segments.size();
      }
      CHECK(k.global_store_tx[w][s] == expected);
      CHECK(k.global_load_tx[w][s] == expected + items / (16u << w) * std::max(1u, (64u << w) / (32u << s)));
    }
  CHECK(k.global_footprint_bytes == 32 * touched.size() + items * 4);
}

TEST_CASE("bank-conflict degrees from 1 to 32") {
  for (std::uint32_t stride = 1; stride <= 32; ++stride) {
    Run run;
    auto const k = run(shared_kernel("mul.lo.s32 %r10, %r0, " + std::to_string(4 * stride) + ";",
                                     "st.shared.u32 [%r10], %r0;\nld.shared.u32 %r12, [%r10];"),
                       2, 128);
    INFO("stride " << stride);
    CHECK(k.shared_load_bytes == 2 * 128 * 4);
    CHECK(k.shared_store_bytes == 2 * 128 * 4);
    CHECK(k.shared_load_passes == k.shared_store_passes);
    CHECK(k.shared_load_passes[1][1] == 2 * 4 * std::gcd(stride, 32u));
    CHECK(k.shared_load_passes[2][1] == 2 * 2 * 2 * std::gcd(stride, 32u));
    for (unsigned w = 0; w < 3; ++w) CHECK(k.shared_load_passes[w][0] == 2 * 8 * std::gcd(stride, 16u));
    // Banks of 8 bytes: even strides halve; odd ones pair up neighbours only at stride 1.
    if (stride % 2 == 0) CHECK(k.shared_load_passes[1][2] == 2 * 4 * std::gcd(stride / 2, 32u));
  }
}

TEST_CASE("every degree of conflict, not only powers of two") {
  for (std::uint32_t degree = 1; degree <= 32; ++degree) {
    // Lanes below `degree` use bank 0, each its own row; the others share the word of lane 0.
    Run run;
    auto const k = run(shared_kernel("setp.lt.u32 %p1, %r0, " + std::to_string(degree) +
                                         ";\nshl.b32 %r12, %r0, 7;\nselp.b32 %r10, %r12, 0, %p1;",
                                     "ld.shared.u32 %r13, [%r10];"),
                       1, 32);
    CHECK(k.shared_load_passes[1][1] == degree);
  }
}

TEST_CASE("64- and 128-bit accesses") {
  Run run;
  auto const k = run(shared_kernel("shl.b32 %r10, %r0, 4;",
                                   "st.shared.v4.u32 [%r10], {%r0, %r0, %r0, %r0};\n"
                                   "ld.shared.v2.u32 {%r13, %r14}, [%r10];"),
                     1, 64);
  CHECK(k.shared_store_bytes == 64 * 16);
  CHECK(k.shared_load_bytes == 64 * 8);
  CHECK(k.shared_store_passes[1][1] == 2 * 4);     // four quarters, each one pass
  CHECK(k.shared_load_passes[1][1] == 2 * 2 * 2);  // two halves, two words per bank
  CHECK(k.shared_store_passes[1][2] == 2 * 2);     // banks of 8 bytes: halves

  Run global;
  auto const buffer = global.buffer(64 * 16);
  auto const g = global.argument(buffer)(
      kernel(".param .u64 buf",
             "ld.param.u64 %rd1, [buf];\nmul.wide.u32 %rd2, %r1, 16;\nadd.s64 %rd3, %rd1, %rd2;\n"
             "ld.global.v4.f32 {%r4, %r5, %r6, %r7}, [%rd3];\nst.global.v2.f32 [%rd3], {%r4, %r5};"),
      1, 64);
  CHECK(g.global_load_bytes == 1024);
  CHECK(g.global_load_tx[1] == std::array<std::uint64_t, 3>{32, 16, 8});
  CHECK(g.global_load_cc13 == std::array<std::uint64_t, 3>{0, 0, 8});
  CHECK(g.global_store_bytes == 512);
  CHECK(g.global_store_tx[1] == std::array<std::uint64_t, 3>{32, 16, 8});
}

TEST_CASE("divergence by lane, by half-warp, by warp") {
  struct Expected {
    char const* bit;
    std::uint64_t w32, w64;
    std::array<std::uint64_t, 3> extra;  // issues of the one instruction behind the branch, per 128 lanes
  };
  for (auto const& e : {Expected{"1", 4, 2, {8, 4, 2}}, Expected{"16", 4, 2, {4, 4, 2}},
                        Expected{"32", 0, 2, {4, 2, 2}}, Expected{"64", 0, 0, {4, 2, 1}}}) {
    Run run;
    auto const k = run(kernel("", std::string("and.b32 %r4, %r0, ") + e.bit +
                                      ";\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 bra JOIN;\nmul.lo.u32 %r5, %r0, %r0;\nJOIN:"),
                       3, 128);
    INFO("bit " << e.bit);
    CHECK(k.branches == 3 * 4);
    CHECK(k.divergent_branches_w32 == 3 * e.w32);
    CHECK(k.divergent_branches_w64 == 3 * e.w64);
    // mad.lo of the frame and the multiplication.
    CHECK(k.inst[Class::int_mul] == 3 * (128 + 64));
    for (unsigned w = 0; w < 3; ++w) CHECK(k.issues[Class::int_mul][w] == 3 * ((8u >> w) + e.extra[w]));
  }
}

TEST_CASE("a product with a constant power of two is a shift, any other is not") {
  Run run;
  auto const bare = run(kernel("", ""), 1, 64);
  auto const more = [&](std::string const& text, Class c) {
    return run(kernel("", text), 1, 64).inst[c] - bare.inst[c];
  };
  CHECK(more("mul.lo.u32 %r4, %r0, 8;", Class::shift) == 64);
  CHECK(more("mul.wide.u32 %rd4, %r0, 4;", Class::shift) == 64);
  CHECK(more("mul.lo.u32 %r4, %r0, 12;", Class::int_mul) == 64);
  CHECK(more("mul.hi.u32 %r4, %r0, 8;", Class::int_mul) == 64);
  CHECK(more("mul.lo.u32 %r4, %r0, %r0;", Class::int_mul) == 64);
}

TEST_CASE("nested loops") {
  Run run;  // 5 rounds of 7 rounds
  auto const k = run(kernel("",
                            "mov.u32 %r4, 0;\nOUTER:\nmov.u32 %r5, 0;\nINNER:\nxor.b32 %r6, %r5, %r4;\n"
                            "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 7;\n@%p1 bra INNER;\n"
                            "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 5;\n@%p2 bra OUTER;"),
                     2, 64);
  CHECK(k.inst[Class::logic] == 128 * 35);
  CHECK(k.issues[Class::logic] == std::array<std::uint64_t, 3>{8 * 35, 4 * 35, 2 * 35});
  CHECK(k.branches == 4 * (35 + 5));
  CHECK(k.divergent_branches_w32 == 0);
  // A branch counts the lanes that take it; ret ends the kernel.
  CHECK(k.inst[Class::control] == 128 * (5 * 6 + 4 + 1));
  CHECK(k.issues[Class::control][1] == 4 * (35 + 5 + 1));
}

TEST_CASE("a guarded instruction counts lanes where its predicate holds, issues wherever it is reached") {
  Run run;
  auto const k = run(kernel("", "setp.lt.u32 %p1, %r0, 10;\n@%p1 popc.b32 %r5, %r0;\n@!%p1 popc.b32 %r6, %r0;"), 1, 64);
  CHECK(k.inst_total() == 64 * (frame + 1) + 10 + 54);
  std::uint64_t issues = 0;
  for (auto const& by_width : k.issues) issues += by_width[1];
  CHECK(issues == 2 * (frame + 3));
}

TEST_CASE("atomics on one address, and on many") {
  Run run;
  auto const one = run.buffer(4), many = run.buffer(4096);
  auto const k = run.argument(one).argument(many)(
      kernel(".param .u64 one, .param .u64 many",
             "ld.param.u64 %rd1, [one];\nld.param.u64 %rd2, [many];\natom.global.add.u32 %r4, [%rd1], 1;\n"
             "and.b32 %r5, %r1, 15;\nmul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
             "red.global.add.u32 [%rd4], 1;\nmov.u32 %r6, s;\natom.shared.add.u32 %r7, [%r6], 1;",
             ".shared .align 4 .b8 s[16];"),
      4, 256);
  CHECK(k.atomics_global == 2 * 1024);
  CHECK(k.atomics_shared == 1024);
  CHECK(k.atomic_max_global == 1024);
  CHECK(k.atomic_max_shared == 256);
  CHECK(k.global_load_bytes == 0);
  CHECK(k.global_store_bytes == 0);
  std::uint32_t counted = 0;
  std::memcpy(&counted, run.memory.bytes(one).data(), 4);
  CHECK(counted == 1024);
}

TEST_CASE("barriers in a loop") {
  Run run;
  auto const k = run(kernel("",
                            "mov.u32 %r4, 0;\nLOOP:\nbar.sync 0;\nadd.u32 %r4, %r4, 1;\n"
                            "setp.lt.u32 %p1, %r4, 9;\n@%p1 bra LOOP;\nbar.sync 0;"),
                     3, 320);
  CHECK(k.barriers == 3 * 10);
  CHECK(k.inst[Class::sync] == 3 * 320 * 10);
  CHECK(k.issues[Class::sync] == std::array<std::uint64_t, 3>{3 * 20 * 10, 3 * 10 * 10, 3 * 5 * 10});
}

TEST_CASE("local, parameter and constant bytes") {
  Run run;
  auto const k = run.argument(std::uint64_t{7})
                     .argument(std::uint32_t{2})(
                         kernel(".param .u64 a, .param .u32 b",
                                ".local .align 8 .b8 depot[32];\nld.param.u64 %rd1, [a];\nld.param.u32 %r4, "
                                "[b];\nmov.u64 %rd2, depot;\n"
                                "st.local.u64 [%rd2], %rd1;\nst.local.u32 [%rd2+8], %r4;\nld.local.u64 %rd3, [%rd2];\n"
                                "mov.u64 %rd4, table;\nld.const.u32 %r5, [%rd4+4];",
                                ".const .align 4 .b8 table[16] = {1, 2, 3, 4, 5, 6, 7, 8};"),
                         2, 40);
  CHECK(k.param_bytes == 80 * 12);
  CHECK(k.local_store_bytes == 80 * 12);
  CHECK(k.local_load_bytes == 80 * 8);
  CHECK(k.const_bytes == 80 * 4);
}

TEST_CASE("counts do not depend on the number of threads") {
  auto const count = [](unsigned threads) {
    Run run;
    auto const buffer = run.buffer(64 * 256 * 4 * 3);
    auto const k = run.argument(buffer).argument(std::uint32_t{3})(strided_text, 64, 256, threads);
    REQUIRE(run.spread);
    CHECK(*run.spread == 0);
    return k;
  };
  auto const one = count(1);
  CHECK(one == count(2));
  CHECK(one == count(3));
}
