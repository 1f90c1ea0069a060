#include "emulator/launch/detail_records.hpp"

#include <map>
#include <tuple>
#include <utility>

#include "emulator/launch/places.hpp"

namespace kernelcast::launch {

namespace {

using record::InstructionClass;

double factor_of(record::Kernel const& kernel) {
  if (kernel.groups_total == kernel.groups_emulated) return 1;
  return static_cast<double>(kernel.groups_total) / static_cast<double>(kernel.groups_emulated);
}

double percent_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::uint64_t all_issues(std::vector<emu::InstructionCounters> const& counters) {
  std::uint64_t sum = 0;
  for (auto const& c : counters) sum += c.issues_w32;
  return sum;
}

struct LineCounters {
  emu::InstructionCounters all;
  std::uint64_t floating = 0, integer = 0, memory = 0;

  void add(InstructionClass kind, emu::InstructionCounters const& c) {
    all.add(c);
    switch (kind) {
      case InstructionClass::fp32:
      case InstructionClass::fp64:
      case InstructionClass::fp16:
      case InstructionClass::special:
        floating += c.inst;
        break;
      case InstructionClass::int_add:
      case InstructionClass::int_mul:
      case InstructionClass::shift:
      case InstructionClass::logic:
        integer += c.inst;
        break;
      case InstructionClass::memory:
        memory += c.inst;
        break;
      default:
        break;
    }
  }
};

record::Line row_of(LineCounters const& c, double factor) {
  auto const scaled = [factor](std::uint64_t count) { return static_cast<double>(count) * factor; };
  record::Line row;
  row.inst_total = scaled(c.all.inst);
  row.issues_w32 = scaled(c.all.issues_w32);
  row.inst_float = scaled(c.floating);
  row.inst_integer = scaled(c.integer);
  row.inst_memory = scaled(c.memory);
  row.global_bytes = scaled(c.all.global_bytes);
  row.global_tx_w32_s32 = scaled(c.all.global_tx);
  row.global_tx_ideal = scaled(c.all.global_tx_ideal);
  row.shared_bytes_moved = scaled(c.all.shared_bytes);
  row.shared_passes_w32_b32 = scaled(c.all.shared_passes);
  row.shared_passes_ideal = scaled(c.all.shared_passes_ideal);
  row.local_bytes = scaled(c.all.local_bytes);
  row.branches = scaled(c.all.branches);
  row.divergent_branches_w32 = scaled(c.all.divergent_branches_w32);
  row.atomics = scaled(c.all.atomics);
  return row;
}

}  // namespace

std::vector<record::Line> line_rows(record::Kernel const& kernel, emu::Program const& program,
                                    emu::InstructionObserver const& observer) {
  auto const counters = observer.instructions();
  std::map<std::pair<std::string, std::uint64_t>, LineCounters> lines;
  for (auto const& range : program.blocks())
    for (std::uint32_t i = range.first; i < range.last; ++i)
      lines[place_of(program.module(), program.kernel().instructions[i])].add(program.instruction_class(i),
                                                                              counters[i]);
  auto const issues = all_issues(counters);
  std::vector<record::Line> rows;
  for (auto const& [place, line] : lines) {
    auto& row = rows.emplace_back(row_of(line, factor_of(kernel)));
    row.kernel = kernel.kernel;
    row.case_name = kernel.case_name;
    std::tie(row.source, row.line) = place;
    row.share_pct = percent_of(line.all.issues_w32, issues);
  }
  return rows;
}

std::vector<record::Block> block_rows(record::Kernel const& kernel, emu::Program const& program,
                                      emu::InstructionObserver const& observer) {
  auto const counters = observer.instructions();
  auto const& instructions = program.kernel().instructions;
  auto const issues = all_issues(counters);
  double const factor = factor_of(kernel);
  std::vector<record::Block> rows;
  for (std::size_t b = 0; b < program.blocks().size(); ++b) {
    auto const& range = program.blocks()[b];
    auto& row = rows.emplace_back();
    row.kernel = kernel.kernel;
    row.case_name = kernel.case_name;
    row.block = b;
    if (range.first == range.last) continue;
    row.ptx_first_line = instructions[range.first].at.line;
    row.ptx_last_line = instructions[range.last - 1].at.line;
    std::uint64_t inst = 0, issued = 0;
    for (std::uint32_t i = range.first; i < range.last; ++i) {
      inst += counters[i].inst;
      issued += counters[i].issues_w32;
      if (!row.line && instructions[i].source.line > 0)
        std::tie(row.source, row.line) = place_of(program.module(), instructions[i]);
    }
    auto const& entries = observer.blocks()[b];
    row.entered_lanes = static_cast<double>(entries.lanes) * factor;
    row.entered_w32 = static_cast<double>(entries.warps) * factor;
    row.entered_groups = static_cast<double>(entries.groups) * factor;
    row.inst_total = static_cast<double>(inst) * factor;
    row.issues_w32 = static_cast<double>(issued) * factor;
    row.share_pct = percent_of(issued, issues);
  }
  return rows;
}

}  // namespace kernelcast::launch
