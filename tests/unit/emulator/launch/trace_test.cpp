// A trace says the same as the counters: instructions by rows and blocks, transactions by addresses, for both widths.
#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <sstream>

#include "base/diag/text.hpp"
#include "catch.hpp"
#include "emulator/launch/launch.hpp"
#include "emulator/launch/trace_observer.hpp"
#include "launches.hpp"
#include "records/trace.hpp"

using namespace kernelcast;
using namespace kernelcast::launch;

namespace {

// Strided, gathered, guarded and generic accesses, a loop of a length of its own for each lane, shared memory, atomics.
constexpr char const* module_text = R"(.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 .ptr .global .align 4 data, .param .u32 n)
{
  .shared .align 4 .b8 tile[1024];
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .f32 %f<4>; .reg .b64 %rd<12>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r5, [n];
  mul.wide.u32 %rd2, %r4, 8;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  mul.lo.u32 %r6, %r3, %r3;
  and.b32 %r6, %r6, 255;
  mul.wide.u32 %rd4, %r6, 4;
  add.s64 %rd5, %rd1, %rd4;
  ld.global.v2.f32 {%f2, %f3}, [%rd1];
  ld.global.f32 %f2, [%rd5];
  and.b32 %r7, %r3, 3;
  setp.gt.u32 %p1, %r7, 1;
  @%p1 st.global.f32 [%rd3+4], %f2;
LOOP:
  shl.b32 %r8, %r3, 2;
  mov.u32 %r9, tile;
  add.u32 %r10, %r9, %r8;
  st.shared.u32 [%r10], %r7;
  sub.u32 %r7, %r7, 1;
  setp.gt.s32 %p2, %r7, 0;
  @%p2 bra LOOP;
  bar.sync 0;
  cvt.u64.u32 %rd6, %r10;
  cvta.shared.u64 %rd7, %rd6;
  setp.lt.u32 %p3, %r3, 40;
  selp.b64 %rd8, %rd7, %rd3, %p3;
  ld.u32 %r11, [%rd8];
  @%p3 atom.global.add.u32 %r12, [%rd1], 1;
  ret;
}
)";

struct Folder : ModuleFolder {
  Folder() : ModuleFolder(module_text) {}
};

Plan plan_for(Folder const& folder) {
  return uncached_plan({.path = folder.module(),
                        .kernel = "k",
                        .global = "400",
                        .local = "100",
                        .arguments = {"buf:u32:2000:iota", "i32:5"}});
}

std::string trace_of(Folder const& folder, unsigned width, std::string_view groups, unsigned threads = 1,
                     record::Format format = record::Format::csv, std::uint64_t* count = nullptr) {
  std::ostringstream text;
  record::Writer<record::Trace> rows(text, format, count);
  TraceOutput output(rows, format);
  auto options = with_groups(groups);
  options.emit = Emit::trace;
  options.trace = &output;
  options.trace_width = width;
  options.threads = threads;
  run(plan_for(folder), options);
  output.flush();
  rows.finish();
  return text.str();
}

std::vector<record::Trace> parsed(std::string const& text) {
  std::istringstream in(text);
  return record::read_rows<record::Trace>(in, "trace.csv");
}

std::uint64_t mask_of(record::Trace const& row) {
  return to_number<std::uint64_t>(row.mask, 16).value();
}

record::Kernel counted(Folder const& folder, std::string_view groups = "all") {
  return run(plan_for(folder), with_groups(groups)).rows.at(0);
}

}  // namespace

TEST_CASE("a trace's rows and blocks are the issues, its addresses the transactions") {
  Folder const folder;
  auto const kernel = counted(folder);
  for (std::size_t const w : {1u, 2u}) {
    unsigned const width = record::width_lanes[w];
    CAPTURE(width);
    auto const rows = parsed(trace_of(folder, width, "all"));
    CHECK(rows.at(0).kind == "launch");
    CHECK(rows[0].kernel == "k");
    CHECK(rows[0].case_name == "400/100");
    CHECK(rows[0].block == 100u);
    CHECK(rows[0].groups_total == 4u);
    CHECK(rows[0].shared_bytes == 1024u);
    CHECK(rows[0].width == width);
    std::map<std::uint64_t, std::vector<record::Trace>> blocks;
    std::map<std::string, std::uint64_t> class_issues;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> seq;
    std::uint64_t load_tx = 0, store_tx = 0, atomics = 0, generic_shared = 0;
    for (auto const& row : rows) {
      if (row.kind == "inst") blocks[*row.block].push_back(row);
      if (row.kind != "exec") continue;
      REQUIRE(*row.seq == seq[{*row.group, *row.warp}]++);
      for (auto const& inst : blocks.at(*row.block)) ++class_issues[inst.class_name];
      std::vector<record::Trace const*> memory;
      for (auto const& inst : blocks.at(*row.block))
        if (inst.class_name == "memory") memory.push_back(&inst);
      record::AddressReader parts(row.addresses, mask_of(row));
      record::LaneAddresses lanes;
      while (parts.next(lanes)) {
        auto const& inst = *memory.at(lanes.item);
        REQUIRE((lanes.mask & ~mask_of(row)) == 0);
        std::set<std::uint64_t> sectors;
        for (std::uint64_t m = lanes.mask; m; m &= m - 1) {
          auto const l = static_cast<unsigned>(std::countr_zero(m));
          for (std::uint64_t a = lanes.address[l] / 32; a <= (lanes.address[l] + *inst.bytes_per_lane - 1) / 32; ++a)
            sectors.insert(a);
        }
        if (inst.opcode.starts_with("atom"))
          atomics += static_cast<std::uint64_t>(std::popcount(lanes.mask));
        else if (lanes.space == 's')
          generic_shared += static_cast<std::uint64_t>(std::popcount(lanes.mask));
        else if (inst.space == "global" || (inst.space == "generic" && !lanes.space))
          (inst.opcode.starts_with("ld") ? load_tx : store_tx) += sectors.size();
      }
      REQUIRE(std::max<std::size_t>(parts.items(), 1) == std::max<std::size_t>(memory.size(), 1));
    }
    CHECK(seq.size() == 4 * ((100 + width - 1) / width));
    for (auto const c : record::values_of<record::InstructionClass>) {
      CAPTURE(name(c));
      CHECK(class_issues[std::string(name(c))] == kernel.issues[c][w]);
    }
    CHECK(load_tx == kernel.global_load_tx[w][0]);
    CHECK(store_tx == kernel.global_store_tx[w][0]);
    CHECK(atomics == kernel.atomics_global);
    CHECK(generic_shared == 4 * 40);
  }
}

TEST_CASE("instructions name their registers, the guard too, and parameters their place") {
  Folder const folder;
  auto const rows = parsed(trace_of(folder, 32, "first"));
  std::map<std::string, record::Trace> by_opcode;
  for (auto const& row : rows)
    if (row.kind == "inst") by_opcode[row.opcode] = row;
  auto const& store = by_opcode.at("st.global.f32");
  CHECK(store.space == "global");
  CHECK(store.bytes_per_lane == 4u);
  CHECK(store.dst.empty());
  CHECK(std::count(store.src.begin(), store.src.end(), ';') == 2);  // guard, address, value
  CHECK(by_opcode.at("ld.global.v2.f32").bytes_per_lane == 8u);
  CHECK(std::count(by_opcode.at("ld.global.v2.f32").dst.begin(), by_opcode.at("ld.global.v2.f32").dst.end(), ';') == 1);
  CHECK(by_opcode.at("ld.u32").space == "generic");
  CHECK(by_opcode.at("ret").space.empty());
  std::string_view const text = module_text;
  auto const lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("  ret;")), '\n');
  CHECK(by_opcode.at("ret").line.value() == static_cast<std::uint64_t>(lines) + 1);
  for (auto const& row : rows)
    if (row.kind == "exec" && row.block == 0u) CHECK(row.addresses.starts_with("0+0;8+0;"));
}

TEST_CASE("a trace of neighbours, the same for any number of threads and as JSON") {
  Folder const folder;
  std::uint64_t count = 0;
  auto const text = trace_of(folder, 32, "resident:3", 1, record::Format::csv, &count);
  CHECK(text == trace_of(folder, 32, "resident:3", 4));
  auto const rows = parsed(text);
  CHECK(count == rows.size());
  std::set<std::uint64_t> groups;
  for (auto const& row : rows)
    if (row.kind == "exec") groups.insert(*row.group);
  CHECK(groups == std::set<std::uint64_t>{0, 1, 2});
  std::uint64_t objects = 0;
  trace_of(folder, 32, "resident:3", 1, record::Format::json, &objects);
  CHECK(objects == count);
}

TEST_CASE("lines and blocks add up to the kernel, whole or extrapolated") {
  Folder const folder;
  for (std::string_view const groups : {"all", "first"}) {
    auto const kernel = counted(folder, groups);
    double issues = 0;
    for (auto const& by_width : kernel.issues) issues += by_width[1];
    auto options = with_groups(groups);
    options.emit = Emit::lines;
    auto const lines = run(plan_for(folder), options).lines;
    options.threads = 3;
    options.emit = Emit::blocks;
    auto const blocks = run(plan_for(folder), options).blocks;
    record::Line sum;
    for (auto const& line : lines) {
      sum.inst_total += line.inst_total;
      sum.issues_w32 += line.issues_w32;
      sum.share_pct += line.share_pct;
      sum.global_tx_w32_s32 += line.global_tx_w32_s32;
      sum.shared_passes_w32_b32 += line.shared_passes_w32_b32;
      sum.branches += line.branches;
      sum.divergent_branches_w32 += line.divergent_branches_w32;
      sum.atomics += line.atomics;
    }
    CHECK(sum.inst_total == kernel.inst_total);
    CHECK(sum.issues_w32 == issues);
    CHECK(sum.share_pct == Approx(100));
    CHECK(sum.global_tx_w32_s32 == kernel.global_load_tx[1][0] + kernel.global_store_tx[1][0]);
    CHECK(sum.shared_passes_w32_b32 == kernel.shared_load_passes[1][1] + kernel.shared_store_passes[1][1]);
    CHECK(sum.branches == kernel.branches);
    CHECK(sum.divergent_branches_w32 == kernel.divergent_branches_w32);
    CHECK(sum.atomics == kernel.atomics_global + kernel.atomics_shared);
    CHECK(std::is_sorted(lines.begin(), lines.end(), [](auto const& a, auto const& b) { return a.line < b.line; }));
    double by_blocks = 0, inst = 0;
    for (auto const& block : blocks) {
      by_blocks += block.issues_w32;
      inst += block.inst_total;
    }
    CHECK(by_blocks == issues);
    CHECK(inst == kernel.inst_total);
    CHECK(blocks[0].entered_lanes == 400);
    CHECK(blocks[0].entered_groups == 4);
  }
}
