// Plans run end to end on PTX, which needs no compiler.
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "catch.hpp"
#include "emulator/launch/launch.hpp"
#include "error_of.hpp"
#include "launches.hpp"

using namespace kernelcast;
using namespace kernelcast::launch;

namespace {

// scale(float* data, uint n, float factor): data[i] *= factor for i < n; one barrier. rows(u32* out, local u32* tile).
constexpr char const* module_text = R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 .ptr .global .align 4 data, .param .u32 n, .param .f32 factor)
{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<6>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [n];
  bar.sync 0;
  setp.ge.u32 %p1, %r4, %r5;
  @%p1 bra DONE;
  ld.param.u64 %rd1, [data];
  ld.param.f32 %f1, [factor];
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%rd3], %f3;
DONE:
  ret;
}
.visible .entry rows(.param .u64 .ptr .global .align 4 out, .param .u64 .ptr .shared .align 4 tile)
.reqntid 32, 1, 1
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [tile];
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.shared.u32 [%rd4], %r1;
  ld.shared.u32 %r2, [%rd4];
  add.s64 %rd5, %rd1, %rd3;
  st.global.u32 [%rd5], %r2;
  ret;
}
// Row of a by y, row of b by x, all of t, own row of c: 128 bytes each.
.visible .entry product(.param .u64 .ptr .global a, .param .u64 .ptr .global b, .param .u64 .ptr .global t,
                        .param .u64 .ptr .global c)
{
  .reg .b32 %r<16>; .reg .b64 %rd<16>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ctaid.y;
  mov.u32 %r4, %nctaid.x;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [t];
  ld.param.u64 %rd4, [c];
  mad.lo.u32 %r5, %r3, 32, %r1;
  mad.lo.u32 %r6, %r2, 32, %r1;
  mad.lo.u32 %r7, %r3, %r4, %r2;
  mad.lo.u32 %r8, %r7, 32, %r1;
  mul.wide.u32 %rd5, %r5, 4;
  mul.wide.u32 %rd6, %r6, 4;
  mul.wide.u32 %rd7, %r1, 4;
  mul.wide.u32 %rd8, %r8, 4;
  add.s64 %rd5, %rd1, %rd5;
  add.s64 %rd6, %rd2, %rd6;
  add.s64 %rd7, %rd3, %rd7;
  add.s64 %rd8, %rd4, %rd8;
  ld.global.u32 %r9, [%rd5];
  ld.global.u32 %r10, [%rd6];
  ld.global.u32 %r11, [%rd7];
  mad.lo.u32 %r12, %r9, %r10, %r11;
  st.global.u32 [%rd8], %r12;
  ret;
}
// The groups of plane z = 0 are border and do nothing, the others write a word each.
.visible .entry inner(.param .u64 .ptr .global out)
{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  mov.u32 %r1, %ctaid.z;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra DONE;
  ld.param.u64 %rd1, [out];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
DONE:
  ret;
}
.visible .entry endless()
{
LOOP:
  bra LOOP;
}
)";

struct Folder : ModuleFolder {
  Folder() : ModuleFolder(module_text) {}
};

Report run_line(Folder const& folder, std::string kernel, std::string global, std::string local,
                std::vector<std::string> arguments, RunOptions const& options = {}) {
  return run(uncached_plan({.path = folder.module(),
                            .kernel = std::move(kernel),
                            .global = std::move(global),
                            .local = std::move(local),
                            .arguments = std::move(arguments)}),
             options);
}

std::vector<float> floats_of(std::string const& path) {
  auto const bytes = read_file(path);
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), 4 * values.size());
  return values;
}

}  // namespace

TEST_CASE("the footprint of a few groups grows by what groups do not share") {
  Folder const folder;
  auto const footprint = [&](std::string const& groups, std::string const& buffer) {
    return run_line(folder, "product", "256,16", "32,1", {buffer, buffer, buffer, buffer}, with_groups(groups))
        .rows[0]
        .global_footprint_bytes;
  };
  double const grid = 8 * 16, row = 128;  // bytes of 32 words; a is touched by 16 different y, b by 8 different x
  double const whole = (16 + 8 + 1 + grid) * row;
  std::string const buffer = "buf:u32:65536:iota";
  CHECK(footprint("all", buffer) == whole);
  CHECK(footprint("first", buffer) == whole);  // linearly it would be 4 * grid * row
  CHECK(footprint("2", buffer) == Approx(whole));
  CHECK(footprint("5", buffer) == Approx(whole));
  CHECK(footprint("resident:8", buffer) == Approx(whole));
}

TEST_CASE("a first group of the border is not silently taken for all") {
  Folder const folder;
  auto const report = run_line(folder, "inner", "64,2,4", "32,1,1", {"buf:u32:64:iota"}, with_groups("first"));
  CHECK(report.rows[0].global_footprint_bytes == 0);
  REQUIRE(report.notes.size() == 1);
  CHECK_THAT(report.notes[0], Contains("kernel 'inner': the emulated groups touch no global memory, group 8 does"));
  CHECK(run_line(folder, "inner", "64,2,4", "32,1,1", {"buf:u32:64:iota"}, with_groups("all")).notes.empty());
}

TEST_CASE("a launch from the command line computes, counts and extrapolates") {
  Folder const folder;
  std::vector<std::string> const arguments{"buf:f32:1000:iota", "i32:1000", "f32:0.5"};
  auto all = with_groups("all");
  all.dumps = {parse_dump("0=" + folder.file("out.bin"))};
  auto const whole = run_line(folder, "scale", "1024", "128", arguments, all);
  REQUIRE(whole.rows.size() == 1);
  auto const& row = whole.rows[0];
  CHECK(row.case_name == "1024/128");
  CHECK(row.groups_total == 8);
  CHECK(row.groups_emulated == 8);
  CHECK(row.global_load_bytes == 4000);
  CHECK(row.barriers == 8);
  CHECK(row.inst_total == 1024 * 7 + 24 + 1000 * 7 + 1024);  // @%p1 bra counts the 24 that take it
  CHECK(row.global_footprint_bytes == 4000);
  REQUIRE(row.spread_pct);
  auto const out = floats_of(folder.file("out.bin"));
  for (std::size_t i = 0; i < 1000; ++i) REQUIRE(out[i] == 0.5f * static_cast<float>(i));

  auto const first = run_line(folder, "scale", "1024", "128", arguments, with_groups("first")).rows[0];
  CHECK(first.groups_emulated == 1);
  CHECK(first.global_load_bytes == 4096);
  CHECK(first.global_footprint_bytes == 4000);  // there is no more memory than that
  CHECK(!first.spread_pct);

  auto checked = with_groups("all");
  checked.checks = {parse_check("0=" + folder.file("out.bin"))};
  CHECK(run_line(folder, "scale", "1024", "128", arguments, checked).rows.size() == 1);
  auto const error =
      error_of([&] { run_line(folder, "scale", "1024", "128", {"buf:f32:1000:iota", "i32:1000", "f32:1"}, checked); });
  CHECK(error.status() == Status::finding);
  CHECK_THAT(error.what(), Contains("999 of 1000") && Contains("first at 1: 1, expected 0.5"));
}

TEST_CASE("arguments that do not fit show the signature") {
  Folder const folder;
  struct Wrong {
    std::vector<std::string> arguments;
    std::string message;
  };
  for (auto const& wrong : std::vector<Wrong>{
           {{"buf:f32:8:zero", "i32:8"}, "takes 3 arguments, 2 given"},
           {{"i32:8", "i32:8", "f32:1"}, "argument 1 ('i32:8')"},
           {{"buf:f32:8:zero", "buf:f32:8:zero", "f32:1"}, "argument 2"},
           {{"buf:f32:8:zero", "i64:8", "f32:1"}, "argument 2 ('i64:8')"},
           {{"local:32", "i32:8", "f32:1"}, "argument 1 ('local:32')"},
       }) {
    auto const error = error_of([&] { run_line(folder, "scale", "8", "8", wrong.arguments); });
    INFO(wrong.message);
    CHECK(error.status() == Status::usage);
    CHECK_THAT(error.what(), Contains(wrong.message));
    CHECK_THAT(error.hint(), Contains("scale("));
  }
}

TEST_CASE("PTX alone does not tell a pointer from a number: a buffer fits both") {
  Folder const folder;
  write_file(folder.module(),
             ".version 7.5\n.target sm_75\n.address_size 64\n"
             ".visible .entry unused(.param .u64 a, .param .u32 n) { ret; }\n");
  CHECK(run_line(folder, "unused", "32", "32", {"buf:u32:32:zero", "u32:1"}).rows.size() == 1);
  CHECK(run_line(folder, "unused", "32", "32", {"u64:0", "u32:1"}).rows.size() == 1);
  auto const narrow = error_of([&] { run_line(folder, "unused", "32", "32", {"u64:0", "buf:u32:32:zero"}); });
  CHECK(narrow.status() == Status::usage);
}

TEST_CASE("a structure is given by its elements, and the message says so") {
  Folder const folder;
  write_file(folder.module(), R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry fields(.param .u64 .ptr .global .align 4 out, .param .align 8 .b8 s[24])
{ .reg .b32 %r<2>; .reg .f32 %f<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out]; ld.param.f32 %f1, [s+4]; ld.param.u64 %rd2, [s+16];
  cvt.rn.f32.u64 %f2, %rd2; add.f32 %f1, %f1, %f2;
  st.global.f32 [%rd1], %f1; ret; }
)");
  RunOptions options;
  options.dumps = {parse_dump("0=" + folder.file("out.bin"))};
  // {1, 0.5f, 0, 7}: int, float, char, long with its padding.
  run_line(folder, "fields", "1", "1", {"buf:f32:1:zero", "u32:1;0x3f000000;0;0;7;0"}, options);
  CHECK(floats_of(folder.file("out.bin")) == std::vector<float>{7.5f});
  auto const error = error_of([&] { run_line(folder, "fields", "1", "1", {"buf:f32:1:zero", "u32:1"}); });
  CHECK_THAT(error.what(), Contains("of 24 bytes"));
  CHECK_THAT(error.hint(), Contains("structure"));
}

TEST_CASE("folders and empty files are told from files that cannot be read") {
  Folder const folder;
  write_file(folder.file("empty.toml"), "");
  CHECK(error_of([&] { read_launch_file(folder.file("empty.toml")); }).status() == Status::bad_data);
  std::filesystem::create_directory(folder.file("folder.toml"));
  CHECK(error_of([&] { read_launch_file(folder.file("folder.toml")); }).status() == Status::io);
  CHECK(error_of([&] {
          run_line(folder, "scale", "32", "32", {"buf:f32:32:file=" + folder.file("folder.toml"), "u32:1", "f32:1"});
        }).status() == Status::io);
}

TEST_CASE("shared memory beyond any device is refused, not cut to 32 bits") {
  Folder const folder;
  auto const plan = uncached_plan({.path = folder.module(),
                                   .kernel = "endless",
                                   .global = "32",
                                   .local = "32",
                                   .dynamic_shared_bytes = std::uint64_t{1} << 32});
  auto const error = error_of([&] { run(plan, RunOptions{}); });
  CHECK(error.status() == Status::usage);
  CHECK_THAT(error.what(), Contains("4294967296 more bytes of shared memory"));
}

TEST_CASE("sizes that do not fit are refused") {
  Folder const folder;
  std::vector<std::string> const arguments{"buf:f32:8:zero", "i32:8", "f32:1"};
  auto error = error_of([&] { run_line(folder, "scale", "100", "16", arguments); });
  CHECK_THAT(error.what(), Contains("100 is not divisible by the local size 16"));
  CHECK_THAT(error.hint(), Contains("96 or 112"));
  error = error_of([&] { run_line(folder, "scale", "8", "", arguments); });
  CHECK_THAT(error.what(), Contains("size of a work-group is missing"));
  error = error_of([&] { run_line(folder, "rows", "64", "64", {"buf:u32:64:zero", "local:256"}); });
  CHECK_THAT(error.what(), Contains("requires work-groups of 32x1x1, not 64x1x1"));
  error = error_of([&] { run_line(folder, "scale", "2048", "2048", arguments); });
  CHECK_THAT(error.what(), Contains("2048 work-items"));
}

TEST_CASE("a required group size is the default, and local memory is laid out") {
  Folder const folder;
  RunOptions options;
  options.dumps = {parse_dump("0=" + folder.file("out.bin"))};
  auto const row = run_line(folder, "rows", "32", "", {"buf:u32:32:zero", "local:128"}, options).rows[0];
  CHECK(row.block_x == 32);
  CHECK(row.shared_bytes == 128);
  CHECK(row.shared_store_bytes == 128);
  CHECK(row.shared_load_passes[1][1] == 1);
  std::vector<float> const out = floats_of(folder.file("out.bin"));
  std::uint32_t last = 0;
  std::memcpy(&last, &out[31], 4);
  CHECK(last == 31);
}

TEST_CASE("an unknown kernel lists the kernels of the file") {
  Folder const folder;
  auto const error = error_of([&] { run_line(folder, "scael", "8", "8", {}); });
  CHECK(error.status() == Status::usage);
  CHECK_THAT(std::string(error.what()) + error.hint(), Contains("scale"));
  auto const unnamed = error_of([&] { run_line(folder, "", "8", "8", {}); });
  CHECK_THAT(std::string(unnamed.what()) + unnamed.hint(), Contains("scale, rows, product, inner, endless"));
}

TEST_CASE("an access outside a buffer is a finding with its place") {
  Folder const folder;
  auto const error = error_of([&] { run_line(folder, "scale", "16", "16", {"buf:f32:10:zero", "i32:16", "f32:1"}); });
  CHECK(error.status() == Status::finding);
  CHECK_THAT(error.what(), Contains("kernel 'scale'") && Contains("offset 40") && Contains("(10, 0, 0)"));
  CHECK(error.where().line == 19);
}

TEST_CASE("a kernel that never ends stops at its limits") {
  Folder const folder;
  RunOptions steps;
  steps.limits.max_steps = 1000;
  auto error = error_of([&] { run_line(folder, "endless", "32", "32", {}, steps); });
  CHECK(error.status() == Status::limit);
  CHECK(error.where().line > 0);
  RunOptions time;
  time.limits.timeout_s = 0.05;
  error = error_of([&] { run_line(folder, "endless", "32", "32", {}, time); });
  CHECK(error.status() == Status::limit);
  RunOptions memory;
  memory.max_memory_bytes = 1000;
  error = error_of([&] { run_line(folder, "scale", "8", "8", {"buf:f32:1000:zero", "i32:8", "f32:1"}, memory); });
  CHECK(error.status() == Status::limit);
}

TEST_CASE("launches of one configuration share a row and the buffers") {
  Folder const folder;
  write_file(folder.file("case.toml"),
             "file = 'm.ptx'\n[buffers]\ndata = 'f32:64:iota'\n"
             "[[launch]]\nkernel = 'scale'\nglobal = 64\nlocal = 32\n"
             "args = ['data', 'i32:64', 'f32:2']\nfor = { k = [0, 3] }\n"
             "[[launch]]\nkernel = 'scale'\ngrid = 4\nlocal = 16\n"
             "args = ['data', 'i32:64', 'f32:0.5']\n");
  auto plan = read_launch_file(folder.file("case.toml"));
  plan.request.cache = false;
  plan.request.registers.clear();
  auto options = with_groups("all");
  options.dumps = {parse_dump("data=" + folder.file("out.bin"))};
  auto const report = run(plan, options);
  REQUIRE(report.rows.size() == 2);
  CHECK(report.rows[0].launches == 3);
  CHECK(report.rows[0].groups_total == 6);
  CHECK(report.rows[0].case_name == "case");
  CHECK(report.rows[0].global_load_bytes == 3 * 256);
  CHECK(report.rows[0].global_footprint_bytes == 256);
  CHECK(report.rows[1].launches == 1);
  CHECK(report.rows[1].block_x == 16);
  auto const out = floats_of(folder.file("out.bin"));
  for (std::size_t i = 0; i < 64; ++i) CHECK(out[i] == 4.0f * static_cast<float>(i));
}

TEST_CASE("where the middle of the grid has no work a group is shown that has") {
  Folder const folder;
  auto const loads = [&](char const* groups, int n) {
    write_file(folder.file("few.toml"), fmt::format("file = 'm.ptx'\n[buffers]\ndata = 'f32:65536:iota'\n"
                                                    "[[launch]]\nkernel = 'scale'\nglobal = 65536\nlocal = 128\n"
                                                    "args = ['data', 'i32:{}', 'f32:2']\n",
                                                    n));
    auto plan = read_launch_file(folder.file("few.toml"));
    plan.request.cache = false;
    plan.request.registers.clear();
    return run(std::move(plan), with_groups(groups)).rows.at(0).group.load_requests;
  };
  // A line and four sectors for each of four warps.
  for (char const* const groups : {"spread", "all", "24"}) {
    CHECK(loads(groups, 65536) == "1/4/1:4");
    CHECK(loads(groups, 8192) == "1/4/1:4");  // 64 groups of 512
  }
  CHECK(loads("all", 128) == "1/4/1:4");  // the first alone
  CHECK(loads("spread", 0).empty());
}

TEST_CASE("a group is that of one launch, whatever other launches like it touch") {
  Folder const folder;
  write_file(folder.file("again.toml"),
             "file = 'm.ptx'\n[buffers]\na = 'f32:128:iota'\nb = 'f32:128:iota'\n"
             "[[launch]]\nkernel = 'scale'\nglobal = 128\nlocal = 128\nargs = ['a', 'i32:128', 'f32:2']\n"
             "[[launch]]\nkernel = 'scale'\nglobal = 128\nlocal = 128\nargs = ['b', 'i32:128', 'f32:2']\n");
  auto plan = read_launch_file(folder.file("again.toml"));
  plan.request.cache = false;
  plan.request.registers.clear();
  auto const row = run(std::move(plan), with_groups("all")).rows.at(0);
  CHECK(row.launches == 2);
  CHECK(row.group.load_sectors == "all:16");
  CHECK(row.group.load_requests == "1/4/1:4");
}

TEST_CASE("a launch finds what launches before it have touched") {
  Folder const folder;
  auto const rows_of = [&](std::string const& launches) {
    write_file(folder.file("chain.toml"),
               "file = \"m.ptx\"\n[buffers]\na = \"f32:16384:iota\"\nb = \"f32:32768:iota\"\n" + launches);
    auto plan = read_launch_file(folder.file("chain.toml"));
    plan.request.cache = false;
    plan.request.registers.clear();
    std::vector<std::string> out;
    for (auto const& row : run(std::move(plan), {}).rows) out.push_back(row.touched_before);
    return out;
  };
  auto const scale = [](std::string const& buffer, int n, std::string const& more = {}) {
    return fmt::format(
        "[[launch]]\nkernel = \"scale\"\nglobal = [{}]\nlocal = [128]\nargs = [\"{}\", \"u32:{}\", \"f32:2\"]\n{}", n,
        buffer, n, more);
  };
  using Rows = std::vector<std::string>;
  // 64 KiB, the same again, 128 KiB, the first again.
  CHECK(rows_of(scale("a", 16384) + scale("a", 16384) + scale("b", 32768) + scale("a", 16384)) ==
        Rows{"16:65536;18:65536", "0:0"});
  // Half of b: the same configuration with another pointer.
  CHECK(rows_of(scale("a", 16384) + scale("b", 16384) + scale("a", 16384)) == Rows{"17:65536"});
  // Alone: not known, unless the file says it.
  CHECK(rows_of(scale("a", 16384)) == Rows{""});
  CHECK(rows_of(scale("a", 16384, "touched_before = \"20:4096;21:0.5\"\n")) == Rows{"20:4096;21:0.5"});
}
