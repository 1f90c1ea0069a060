// What a sample of groups says: closed forms of small kernels.
#include <cmath>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "catch.hpp"
#include "emulator/launch/group_sample.hpp"
#include "kernels/ptx/parser.hpp"
#include "records/phases.hpp"
#include "records/table/histogram.hpp"

using namespace kernelcast;

namespace {

// Runs the sample of kernel k(a, b) on 1 MiB buffers of zeros and gives the columns of one group. %r1 = tid.x, %r2 =
// ctaid.x, %r3 = ctaid.y, %r4 = ntid.x, %r5 = tid.x + ctaid.x * ntid.x, %rd1 = a, %rd2 = b.
record::GroupColumns columns_of(std::string const& body, emu::Dim3 grid, emu::Dim3 block,
                                std::string const& variables = {}) {
  auto const module = ptx::parse(
      ".version 7.5\n.target sm_75\n.address_size 64\n" + variables +
          "\n.visible .entry k(.param .u64 a, .param .u64 b)\n{\n.reg .b32 %r<32>;\n.reg .f32 %f<32>;\n.reg .b64 "
          "%rd<32>;\n.reg .pred %p<8>;\n"
          "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ctaid.y;\nmov.u32 %r4, %ntid.x;\n"
          "mad.lo.s32 %r5, %r2, %r4, %r1;\nld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\n" +
          body + "\nret;\n}\n",
      "test.ptx");
  emu::Program const program(*module, *module->find_kernel("k"));
  emu::Memory memory;
  std::array<std::uint64_t, 2> const buffers{memory.add("a", 1 << 20), memory.add("b", 1 << 20)};
  emu::Launch launch;
  launch.grid = grid;
  launch.block = block;
  launch.parameters.resize(16);
  std::memcpy(launch.parameters.data(), buffers.data(), 16);
  launch::GroupSample sample(program, grid);
  REQUIRE(launch::run_sample(sample, program, launch, memory, 1000000));
  record::GroupColumns out;
  sample.fill(out, memory);
  return out;
}

double step(record::GroupColumns const& columns, record::Step s) {
  return columns.path[s].value();
}

}  // namespace

TEST_CASE("a private stream: one request of a line for each wavefront, nothing shared, nothing used again") {
  auto const c = columns_of(
      "mul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\nld.global.f32 %f1, [%rd4];\n"
      "add.f32 %f1, %f1, %f1;\nst.global.f32 [%rd5], %f1;",
      {16, 1, 1}, {128, 1, 1});
  CHECK(c.load_requests == "1/4/1:4");
  CHECK(c.store_requests == "1/4/1:4");
  CHECK(c.load_sectors == "x:16");
  CHECK(c.store_sectors == "x:16");
  CHECK(c.load_lines == "x:4");
  CHECK(c.reuse.empty());
  CHECK(step(c, record::Step::miss) == 1);
  CHECK(step(c, record::Step::hit) == 0);
  CHECK(step(c, record::Step::barrier) == 0);
}

TEST_CASE("strides spread a request over lines, and lines over banks") {
  auto const c = columns_of("mul.wide.u32 %rd3, %r1, 512;\nadd.s64 %rd4, %rd1, %rd3;\nld.global.f32 %f1, [%rd4];",
                            {1, 1, 1}, {32, 1, 1});
  CHECK(c.load_requests == "32/32/32:1");  // all in bank 0
  CHECK(c.load_sectors == "all:32");
  auto const d = columns_of("mul.wide.u32 %rd3, %r1, 132;\nadd.s64 %rd4, %rd1, %rd3;\nld.global.f32 %f1, [%rd4];",
                            {1, 1, 1}, {32, 1, 1});
  CHECK(d.load_requests == "32/32/1:1");  // each in a bank of its own
}

TEST_CASE("what groups share is told by the axes that it depends on") {
  // a[ctaid.x * 32 + tid], a[65536 + ctaid.y * 32 + tid], a[131072 + tid]
  auto const c = columns_of(
      "mul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd1, %rd3;\nld.global.f32 %f1, [%rd4];\n"
      "mad.lo.s32 %r6, %r3, 32, %r1;\nmul.wide.u32 %rd5, %r6, 4;\nadd.s64 %rd6, %rd1, %rd5;\nld.global.f32 %f2, "
      "[%rd6+65536];\n"
      "mul.wide.u32 %rd7, %r1, 4;\nadd.s64 %rd8, %rd1, %rd7;\nld.global.f32 %f3, [%rd8+131072];",
      {8, 8, 1}, {32, 1, 1});
  CHECK(c.load_sectors == "all:4;x:4;y:4");
}

TEST_CASE("what groups far apart in the grid share is not counted twice") {
  // a[i], a[i + 2048], a[i + 4096]: a plane of 2048 words is 64 groups of 32 work-items.
  auto const c = columns_of(
      "mul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd1, %rd3;\nld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, "
      "[%rd4+8192];\nld.global.f32 %f3, [%rd4+16384];\nst.global.f32 [%rd2], %f1;",
      {1000, 1, 1}, {32, 1, 1});
  CHECK(c.load_sectors == "x:12");
  // Up to 64 groups: 12 sectors each; from there on one plane more for each plane; 4 * (1000 + 2 * 64) in the end.
  CHECK(c.load_unions == "0:12;1:24;2:48;3:96;4:192;5:384;6:768;7:1024;8:1536;9:2560;10:4512");
  CHECK(c.store_unions == "0:1;1:1;2:1;3:1;4:1;5:1;6:1;7:1;8:1;9:1;10:1");
}

TEST_CASE("groups that are moved by part of a sector add what they add to each other") {
  // Groups of 100 words, 12.5 sectors.
  auto const c = columns_of("mul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd1, %rd3;\nld.global.f32 %f1, [%rd4];",
                            {1024, 1, 1}, {100, 1, 1});
  double all = 0;
  REQUIRE(record::read_histogram(c.load_unions, [&](std::string_view, double n) { return all = n, true; }));
  CHECK(std::abs(all - 12800) <= 0.05 * 12800);
}

TEST_CASE("tiles with a border share it with the next row of groups, and all of a row with its columns") {
  // Groups of 8 x 1 words in an image of 64 words a row, and the row below: 8 groups a row, 16 rows.
  auto const c = columns_of(
      "mad.lo.s32 %r6, %r3, 64, %r5;\nmul.wide.u32 %rd3, %r6, 4;\nadd.s64 %rd4, %rd1, %rd3;\nld.global.f32 %f1, "
      "[%rd4];\nld.global.f32 %f2, [%rd4+256];",
      {8, 16, 1}, {8, 1, 1});
  CHECK(c.load_unions == "0:2;1:4;2:8;3:16;4:24;5:40;6:72;7:136");  // n rows: (n + 1) * 8
}

TEST_CASE("groups touch no more of a buffer than it has") {
  // Each group reads 64 words of a table of 1 MiB, from a place that no rule moves with its number.
  auto const c = columns_of(
      "mul.lo.u32 %r6, %r2, %r2;\nmul.lo.u32 %r6, %r6, 2654435761;\nshr.u32 %r6, %r6, 7;\nand.b32 %r6, %r6, "
      "1048064;\nmul.wide.u32 %rd3, %r6, 1;\nmul.wide.u32 %rd4, "
      "%r1, 4;\nadd.s64 %rd5, %rd1, %rd3;\nadd.s64 %rd5, %rd5, %rd4;\nld.global.f32 %f1, [%rd5];",
      {1 << 20, 1, 1}, {64, 1, 1});
  CHECK(c.load_unions.starts_with("0:8;1:16;"));
  CHECK(c.load_unions.ends_with("19:32768;20:32768"));
}

TEST_CASE("stack distances count the distinct sectors in between") {
  // Four rounds over 8 lines (32 sectors): each comes again after 31 others, which is in [16, 32).
  auto const c = columns_of(
      "mov.u32 %r6, 0;\nL:\nand.b32 %r7, %r6, 7;\nmul.wide.u32 %rd3, %r7, 128;\nmul.wide.u32 %rd4, %r1, 4;\n"
      "add.s64 %rd5, %rd1, %rd3;\nadd.s64 %rd5, %rd5, %rd4;\nld.global.f32 %f1, [%rd5];\nadd.u32 %r6, %r6, 1;\n"
      "setp.lt.u32 %p1, %r6, 32;\n@%p1 bra L;",
      {1, 1, 1}, {32, 1, 1});
  CHECK(c.load_sectors == "all:32");
  CHECK(c.reuse == "5:96");
  CHECK(c.load_requests == "1/4/1:32");
}

TEST_CASE("a chain of addresses is a path of misses, independent loads are one") {
  std::string chain = "mov.u64 %rd3, %rd1;\n", independent;
  for (int i = 0; i < 5; ++i) {
    chain += "ld.global.u64 %rd4, [%rd3];\nadd.s64 %rd3, %rd3, %rd4;\nadd.s64 %rd3, %rd3, 4096;\n";
    independent += "ld.global.f32 %f" + std::to_string(i) + ", [%rd1+" + std::to_string(4096 * i) + "];\n";
  }
  chain += "st.global.u64 [%rd2], %rd3;\n";  // a result without use is not code
  for (int i = 0; i < 5; ++i)
    independent += "st.global.f32 [%rd2+" + std::to_string(4 * i) + "], %f" + std::to_string(i) + ";\n";
  auto const serial = columns_of(chain, {1, 1, 1}, {1, 1, 1});
  CHECK(step(serial, record::Step::miss) == 5);
  auto const parallel = columns_of(independent, {1, 1, 1}, {1, 1, 1});
  CHECK(step(parallel, record::Step::miss) == 1);
  // The same address again is in the first-level cache, for all wavefronts.
  auto const again = columns_of(
      "ld.global.u64 %rd3, [%rd1];\nadd.s64 %rd4, %rd1, %rd3;\nld.global.u64 %rd5, [%rd4];\nadd.s64 %rd6, %rd4, %rd5;\n"
      "ld.global.u64 %rd7, [%rd6];\nst.global.u64 [%rd2], %rd7;",
      {1, 1, 1}, {64, 1, 1});
  CHECK(step(again, record::Step::miss) == 1);
  CHECK(step(again, record::Step::hit) == 2);
}

TEST_CASE("a load stays behind the stores before it, unless they are known to be of another place") {
  // Each round loads a word, and stores it.
  auto const rounds = [](std::string const& load, std::string const& from, int step) {
    std::string text = "mov.u64 %rd3, %rd2;\n";
    for (int i = 0; i < 4; ++i)
      text += load + " %f" + std::to_string(i) + ", [" + from + "+" + std::to_string(4096 * i) + "];\nst.global.f32 [" +
              (step ? "%rd2" : from) + "+" + std::to_string(64 + 4 * i) + "], %f" + std::to_string(i) + ";\n";
    return columns_of(text, {1, 1, 1}, {1, 1, 1});
  };
  CHECK(step(rounds("ld.global.f32", "%rd1", 1), record::Step::miss) == 4);     // of a buffer that may be the same
  CHECK(step(rounds("ld.global.nc.f32", "%rd1", 1), record::Step::miss) == 1);  // read-only memory
  CHECK(step(rounds("ld.global.f32", "%rd1", 0), record::Step::miss) == 1);     // by the same register
  CHECK(step(rounds("ld.volatile.global.f32", "%rd1", 0), record::Step::miss) == 4);  // in order all the same
}

TEST_CASE("barriers hold all wavefronts of a group") {
  // Wavefront 0 alone loads before the barrier, wavefront 1 alone after it.
  auto const c = columns_of(
      "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra A;\nld.global.f32 %f1, [%rd1];\nst.shared.f32 [s], %f1;\nA:\nbar.sync 0;\n"
      "setp.lt.u32 %p2, %r1, 32;\n@%p2 bra B;\nld.global.f32 %f2, [%rd2];\nst.shared.f32 [s+4], %f2;\nB:",
      {1, 1, 1}, {64, 1, 1}, ".shared .align 4 .b8 s[64];");
  CHECK(step(c, record::Step::miss) == 2);
  CHECK(step(c, record::Step::barrier) == 1);
  CHECK(c.shared_requests == 2);
}

TEST_CASE("loads that predicates guard are issued before the stores of the ones before them") {
  // As ptxas 13.0 schedules them: guarded loads go together, and what they are stored by follows.
  auto const tile = [](std::string const& between) {
    std::string text = "setp.ge.u32 %p1, %r2, 100;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd1, %rd3;\n";
    for (char const name : {'A', 'B', 'C', 'D'})
      text += fmt::format(
          "mov.f32 %f1, 0f00000000;\n@%p1 bra {0};\nld.global.f32 %f1, [%rd4+{1}];\n{0}:\nst.shared.f32 [s+{2}], "
          "%f1;\n{3}",
          name, 4096 * (name - 'A'), 4 * (name - 'A'), between);
    return columns_of(text, {1, 1, 1}, {32, 1, 1}, ".shared .align 4 .b8 s[64];");
  };
  CHECK(step(tile(""), record::Step::miss) == 1);
  CHECK(step(tile("bar.sync 0;\n"), record::Step::miss) == 4);
  // A branch over more is one: what follows waits for the store's operand.
  std::string text = "setp.eq.u32 %p2, %r2, 7;\nld.global.f32 %f1, [%rd1];\nst.shared.f32 [s], %f1;\n@%p2 bra L;\n";
  for (int i = 0; i < 16; ++i) text += "add.u32 %r6, %r6, %r1;\n";
  auto const apart = columns_of(text + "L:\nld.global.f32 %f2, [%rd2];\nst.shared.f32 [s+4], %f2;", {1, 1, 1},
                                {32, 1, 1}, ".shared .align 4 .b8 s[64];");
  CHECK(step(apart, record::Step::miss) == 2);
}

TEST_CASE("shared memory gives 128 bytes a clock, and what the assembler joins at once") {
  // Of one wavefront: each lane at its own offset of `scale` bytes, or the lanes of a half at the same.
  auto const loads = [](std::string const& offset, std::string const& load) {
    return columns_of(offset + "\nmov.u32 %r7, s;\nadd.u32 %r8, %r7, %r6;\n" + load, {1, 1, 1}, {32, 1, 1},
                      ".shared .align 16 .b8 s[8192];")
        .shared_loads;
  };
  std::string const wide = "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r8];";
  std::string const four =
      "ld.shared.f32 %f1, [%r8];\nld.shared.f32 %f2, [%r8+4];\nld.shared.f32 %f3, [%r8+8];\nld.shared.f32 %f4, "
      "[%r8+12];";
  CHECK(loads("shl.b32 %r6, %r1, 2;", "ld.shared.f32 %f1, [%r8];") == "1:1");
  CHECK(loads("shl.b32 %r6, %r1, 7;", "ld.shared.f32 %f1, [%r8];") == "32:1");
  CHECK(loads("and.b32 %r6, %r1, 0;", "ld.shared.f32 %f1, [%r8];") == "1:1");
  for (auto const& load : {wide, four}) {
    CHECK(loads("shl.b32 %r6, %r1, 4;", load) == "4:1");  // 512 bytes
    CHECK(loads("shl.b32 %r6, %r1, 5;", load) == "8:1");  // every other 16 bytes: a quarter meets in half the banks
    // Greg Smith of NVIDIA, forums.developer.nvidia.com/t/77228: lane % 4 takes 4, pairs of neighbours 2.
    CHECK(loads("and.b32 %r5, %r1, 3;\nshl.b32 %r6, %r5, 4;", load) == "4:1");
    CHECK(loads("shr.u32 %r5, %r1, 1;\nand.b32 %r5, %r5, 7;\nshl.b32 %r6, %r5, 4;", load) == "2:1");
    CHECK(loads("and.b32 %r6, %r1, 0;", load) == "2:1");
  }
  auto const stores = columns_of(
      "shl.b32 %r6, %r1, 6;\nmov.u32 %r7, s;\nadd.u32 %r8, %r7, %r6;\nst.shared.f32 [%r8], %f1;\nst.shared.f32 [s], "
      "%f1;",
      {1, 1, 1}, {32, 1, 1}, ".shared .align 16 .b8 s[2048];");
  CHECK(stores.shared_stores == "1:1;16:1");
  CHECK(stores.shared_loads.empty());
}

TEST_CASE("a store to private memory that the next one overwrites is part of it") {
  // As ptxas 13.0: a register gets either value, and is stored once.
  auto const stores = [](std::string const& between) {
    auto const c = columns_of(
        "mov.u64 %rd3, p;\nmov.u32 %r9, 0;\nst.local.u32 [%rd3], %r9;\nsetp.ge.u32 %p1, %r1, 7;\n" + between +
            "@%p1 bra A;\nld.global.u32 %r9, [%rd1];\nst.local.u32 [%rd3], %r9;\nA:\nld.local.u32 %r8, [%rd3];\n"
            "st.global.u32 [%rd2], %r8;",
        {1, 1, 1}, {32, 1, 1}, ".local .align 4 .b8 p[16];");
    return c.local_stores + " of " + c.local_requests;
  };
  CHECK(stores("") == "1/1/1:1 of 1/1/1:1;1/4/1:1");
  CHECK(stores("ld.local.u32 %r7, [%rd3];\n") == "1/1/1:1;1/4/1:1 of 1/1/1:1;1/4/1:3");
  CHECK(stores("st.local.u32 [%rd3+4], %r9;\n") == "1/1/1:1;1/4/1:1 of 1/1/1:1;1/4/1:2");
}

TEST_CASE("what a group does from barrier to barrier is of one kind by their places") {
  CHECK(columns_of("add.f32 %f1, %f1, %f1;", {1, 1, 1}, {64, 1, 1}).phases.empty());
  // Ten times: load and store to shared memory; multiply.
  auto const c = columns_of(
      "mov.u32 %r9, 0;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd1, %rd3;\nL:\nld.global.f32 %f1, "
      "[%rd4];\nst.shared."
      "f32 [s], %f1;\nbar.sync 0;\nld.shared.f32 %f2, [s];\nmul.f32 %f3, %f2, %f2;\nmul.f32 %f3, %f3, %f2;\nadd.s64 "
      "%rd4, %rd4, 4096;\nadd.u32 %r9, %r9, 1;\nbar.sync 0;\nsetp.lt.u32 %p1, %r9, 10;\n@%p1 bra L;",
      {1, 1, 1}, {64, 1, 1}, ".shared .align 4 .b8 s[64];");
  std::vector<record::Phase> phases;
  REQUIRE(record::read_phases(c.phases, phases));
  record::PerValue<record::Work, double> part;
  record::PerValue<record::Step, double> steps;
  double loading = 0, multiplying = 0;
  for (auto const& phase : phases) {
    for (auto const work : record::values_of<record::Work>) part[work] += phase.part[work];
    for (auto const one : record::values_of<record::Step>) steps[one] += phase.count * phase.steps[one];
    if (phase.part[record::Work::sectors] > 0) loading += phase.count;
    if (phase.part[record::Work::fp32] > 0) {
      multiplying += phase.count;
      CHECK(phase.part[record::Work::fp32] == 1);
      CHECK(phase.part[record::Work::sectors] == 0);
      CHECK(phase.steps[record::Step::miss] == 0);
      CHECK(phase.steps[record::Step::shared] == 1);
    }
  }
  CHECK(loading == 10);
  CHECK(multiplying == 10);
  for (auto const work : {record::Work::issue, record::Work::lsu, record::Work::shared})
    CHECK(part[work] == Approx(1).epsilon(1e-3));
  CHECK(part[record::Work::others] == 0);
  for (auto const one : record::values_of<record::Step>) CHECK(steps[one] == Approx(step(c, one)));
  CHECK(step(c, record::Step::miss) == 10);
}

TEST_CASE("atomics by address and by sector") {
  auto const one = columns_of("red.global.add.u32 [%rd1], 1;", {4, 1, 1}, {64, 1, 1});
  CHECK(one.atomic_requests == 2);
  CHECK(one.atomic_serial == 2);  // the assembler makes one of a wavefront's
  CHECK(one.atomic_sectors == 2);
  CHECK(one.atomic_lines == 2);
  CHECK(one.atomic_wide_lanes == 0);
  CHECK(one.atomic_unions == "0:1;1:1;2:1");
  auto const same = columns_of(
      "and.b32 %r6, %r1, 0;\nmul.wide.u32 %rd3, %r6, 4;\nadd.s64 %rd4, %rd1, "
      "%rd3;\nred.global.add.u32 [%rd4], 1;\nred.global.add.f64 [%rd2], 0d3FF0000000000000;",
      {4, 1, 1}, {64, 1, 1});
  CHECK(same.atomic_serial == 64 + 64);  // an address that it does not know to be one; no integers
  CHECK(same.atomic_wide_lanes == 64);
  auto const apart = columns_of("mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd1, %rd3;\nred.global.add.u32 [%rd4], 1;",
                                {4, 1, 1}, {64, 1, 1});
  CHECK(apart.atomic_serial == 2);
  CHECK(apart.atomic_sectors == 8);
  CHECK(apart.atomic_lines == 2);
  CHECK(apart.atomic_unions == "0:8;1:8;2:8");
  CHECK(apart.store_sectors == "all:8");
}

TEST_CASE("private memory lies word by word beside that of the neighbours") {
  // Each work-item writes word tid % 4 of its own array: 4 lines, of each 8 work-items in 4 sectors.
  auto const c = columns_of(
      "mov.u64 %rd3, d;\nand.b32 %r6, %r1, 3;\nmul.wide.u32 %rd4, %r6, 4;\nadd.s64 %rd5, %rd3, %rd4;\nst.local.u32 "
      "[%rd5], %r1;",
      {1, 1, 1}, {32, 1, 1}, ".local .align 4 .b8 d[64];");
  CHECK(c.local_requests == "4/16/1:1");
  CHECK(c.local_lines == 4);
}

TEST_CASE("a group that the sample has run alone tells what it touches, by all axes") {
  auto const module = ptx::parse(
      ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n.reg "
      ".b64 %rd<4>;\n.reg .f32 %f<2>;\nld.param.u64 %rd1, [a];\nld.global.f32 %f1, "
      "[%rd1];\nret;\n}\n",
      "test.ptx");
  emu::Program const program(*module, *module->find_kernel("k"));
  emu::Memory memory;
  std::uint64_t const buffer = memory.add("a", 4096);
  emu::Launch launch;
  launch.grid = {4, 4, 1};
  launch.block = {32, 1, 1};
  launch.parameters.resize(8);
  std::memcpy(launch.parameters.data(), &buffer, 8);
  launch::GroupSample sample(program, launch.grid);
  CHECK(sample.groups().size() == 6);
  sample.leave_out_neighbours();
  REQUIRE(launch::run_sample(sample, program, launch, memory, 1000));
  record::GroupColumns out;
  sample.fill(out, memory);
  CHECK(out.load_sectors == "xy:1");
  CHECK(launch::worth_sampling(launch.grid, 1000) == launch::Worth::all);
  CHECK(launch::worth_sampling(launch.grid, launch::max_instructions_for_footprint) == launch::Worth::middle);
  CHECK(launch::worth_sampling(launch.grid, launch::max_instructions_for_middle) == launch::Worth::middle);
  CHECK(launch::worth_sampling(launch.grid, launch::max_instructions_for_middle + 1) == launch::Worth::nothing);
}

namespace {

// A warp fills a ring of two tiles of 4 KiB by bulk copies, another takes them: `rounds` tiles, of each 8 lines of 128
// bytes by each lane's own load. `work`: how long the taker is at each.
std::string ring(int rounds, int work, std::string const& copy) {
  auto const n = std::to_string(rounds);
  return "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra ready;\nmbarrier.init.shared.b64 [full], 1;\n"
         "mbarrier.init.shared.b64 [full+8], 1;\nmbarrier.init.shared.b64 [empty], 1;\n"
         "mbarrier.init.shared.b64 [empty+8], 1;\nready:\nbar.sync 0;\nmov.u32 %r10, 0;\n"
         "mov.u32 %r11, full;\nmov.u32 %r12, empty;\nmov.u32 %r13, tile;\n"
         "setp.ge.u32 %p2, %r1, 32;\n@%p2 bra taker;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra out;\n"
         "fill:\nand.b32 %r14, %r10, 1;\nshl.b32 %r15, %r14, 3;\nadd.u32 %r16, %r12, %r15;\n"
         "shr.u32 %r17, %r10, 1;\nand.b32 %r17, %r17, 1;\nxor.b32 %r18, %r17, 1;\n"
         "gap:\nmbarrier.try_wait.parity.shared.b64 %p3, [%r16], %r18;\n@!%p3 bra gap;\n"
         "add.u32 %r16, %r11, %r15;\nmbarrier.arrive.expect_tx.shared.b64 _, [%r16], 4096;\n"
         "shl.b32 %r19, %r14, 12;\nadd.u32 %r19, %r13, %r19;\nshl.b32 %r20, %r10, 12;\ncvt.u64.u32 %rd6, %r20;\n"
         "add.u64 %rd6, %rd1, %rd6;\n" +
         copy + "\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p4, %r10, " + n + ";\n@%p4 bra fill;\nbra out;\n" +
         "taker:\nand.b32 %r14, %r10, 1;\nshl.b32 %r15, %r14, 3;\nadd.u32 %r16, %r11, %r15;\n"
         "shr.u32 %r17, %r10, 1;\nand.b32 %r17, %r17, 1;\n"
         "wait:\nmbarrier.try_wait.parity.shared.b64 %p3, [%r16], %r17;\n@!%p3 bra wait;\nmov.u32 %r21, 0;\n"
         "busy:\nadd.u32 %r21, %r21, 1;\nsetp.lt.u32 %p5, %r21, " +
         std::to_string(work) +
         ";\n@%p5 bra busy;\nadd.u32 %r16, %r12, %r15;\nsetp.ne.u32 %p1, %r1, 32;\n"
         "@!%p1 mbarrier.arrive.shared.b64 _, [%r16];\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p4, %r10, " +
         n + ";\n@%p4 bra taker;\nout:";
}
constexpr char const* ring_variables =
    ".shared .align 128 .b8 tile[8192];\n.shared .align 8 .b8 full[16];\n.shared .align 8 .b8 empty[16];";
constexpr char const* bulk_copy =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r19], [%rd6], 4096, [%r16];";

}  // namespace

TEST_CASE("a copy engine's requests are not the load/store unit's, and who waits for them waits for a miss") {
  constexpr int rounds = 16;
  auto const c = columns_of(ring(rounds, 1, bulk_copy), {1, 1, 1}, {64, 1, 1}, ring_variables);
  double sectors = 0;
  REQUIRE(record::read_histogram(c.load_requests, [&](std::string_view shape, double n) {
    std::array<double, 3> of{};
    REQUIRE(record::read_numbers(shape, of));
    CHECK(of[2] == 0);  // no banks of the load/store unit's
    sectors += n * of[1];
    return true;
  }));
  CHECK(sectors == rounds * 4096 / 32);
  CHECK(c.shared_engine_bytes == rounds * 4096);
  // Two tiles are under way together: a round of the ring, of two, waits for memory once, or the taker for each tile
  // that it has given back.
  CHECK(step(c, record::Step::miss) >= rounds / 2);
  CHECK(step(c, record::Step::miss) <= rounds);
  CHECK(step(c, record::Step::barrier) >= rounds / 2);
  CHECK(step(c, record::Step::barrier) <= 2 * rounds + 1);
}

TEST_CASE("a bulk copy asks for each line and each sector once, by requests that are none of the load/store unit's") {
  constexpr char const* variables = ".shared .align 128 .b8 tile[65536];\n.shared .align 8 .b8 full[8];";
  struct Asked {
    double lines = 0, sectors = 0;
  };
  auto const asked = [](std::string const& requests) {
    Asked sum;
    REQUIRE(record::read_histogram(requests, [&](std::string_view shape, double n) {
      std::array<double, 3> of{};
      REQUIRE(record::read_numbers(shape, of));
      CHECK(of[2] == 0);
      sum.lines += n * of[0];
      sum.sectors += n * of[1];
      return true;
    }));
    return sum;
  };
  for (auto const& [begin, bytes] : {std::pair{0, 8192}, {0, 16}, {16, 1600}, {48, 976}, {112, 32}, {32, 65504}}) {
    std::string const at = std::to_string(begin), size = std::to_string(bytes);
    std::string const load =
        "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra out;\nmbarrier.init.shared.b64 [full], 1;\n"
        "mbarrier.expect_tx.shared.b64 [full], " +
        size + ";\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+" + at + "], [%rd1+" + at +
        "], " + size + ", [full];\n";
    std::string const store =
        "cp.async.bulk.global.shared::cta.bulk_group [%rd2+" + at + "], [tile+" + at + "], " + size + ";\nout:";
    double const lines = (begin + bytes + 127) / 128 - begin / 128, sectors = (begin + bytes + 31) / 32 - begin / 32;
    auto const c = columns_of(load + store, {1, 1, 1}, {64, 1, 1}, variables);
    CHECK(asked(c.load_requests).lines == lines);
    CHECK(asked(c.load_requests).sectors == sectors);
    CHECK(asked(c.store_requests).lines == lines);
    CHECK(asked(c.store_requests).sectors == sectors);
    CHECK(c.shared_engine_bytes == 2 * bytes);
    CHECK(c.shared_requests == 1);  // the mbarrier's initialisation
    CHECK(c.reuse.empty());         // no sector is asked for twice
    // A prefetch asks for nothing that is moved.
    auto const p = columns_of("setp.ne.u32 %p1, %r1, 0;\n@%p1 bra out;\ncp.async.bulk.prefetch.L2.global [%rd1+" + at +
                                  "], " + size + ";\nout:",
                              {1, 1, 1}, {64, 1, 1});
    CHECK(p.load_requests.empty());
    // A reduction is atomics of 16 bytes, on each line and sector once.
    auto const r = columns_of(load + "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2+" + at +
                                  "], [tile+" + at + "], " + size + ";\nout:",
                              {1, 1, 1}, {64, 1, 1}, variables);
    CHECK(r.store_requests.empty());
    CHECK(r.atomic_sectors == sectors);
  }
}

TEST_CASE("how long one waits for an mbarrier changes no count of the one that waits") {
  // What the taker's work adds is linear in it: no round of a waiting loop more.
  auto const slots = [&](int work) {
    return columns_of(ring(16, work, bulk_copy), {1, 1, 1}, {64, 1, 1}, ring_variables).slots.value();
  };
  auto const a = columns_of(ring(16, 10, bulk_copy), {1, 1, 1}, {64, 1, 1}, ring_variables);
  auto const b = columns_of(ring(16, 1000, bulk_copy), {1, 1, 1}, {64, 1, 1}, ring_variables);
  CHECK(a.shared_requests == b.shared_requests);
  CHECK(a.shared_atomic_requests == b.shared_atomic_requests);
  // Each of 16 tiles is waited for by two warps: one test that fails at most, and one that does not.
  CHECK(a.shared_requests.value() <= 2 * 2 * 16 + 4);
  CHECK(slots(1000) - slots(600) == slots(500) - slots(100));
}
