#include "emulator/check/facts.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "emulator/check/async_text.hpp"

namespace kernelcast::emu {

namespace {

using ptx::Op;
using ptx::Operand;

// cp.async.mbarrier.arrive, tcgen05.commit.
bool arrives_at_barrier(ptx::Instruction const& i) {
  return (i.is(Op::cp) && i.has("mbarrier")) || (i.is(Op::tcgen05) && i.has("commit"));
}

void mark_read(Operand const& operand, std::vector<bool>& read) {
  if (operand.kind == Operand::Kind::reg && operand.id < read.size()) read[operand.id] = true;
  for (Operand const& element : operand.elements) mark_read(element, read);
}

// Registers that some instruction reads. Where the destination is not the first operand, more than are read.
std::vector<bool> registers_read(ptx::Function const& kernel) {
  std::vector<bool> read(kernel.registers.size());
  for (ptx::Instruction const& i : kernel.instructions) {
    if (i.guard.present) read[i.guard.reg] = true;
    bool const no_destination = i.is(Op::st, Op::red) || i.is_branch() || i.is_call() || i.is_barrier();
    for (std::size_t o = no_destination ? 0 : 1; o < i.operands.size(); ++o) mark_read(i.operands[o], read);
    // A destination that is part of a whole, or an address: its registers are read as well.
    if (!no_destination && !i.operands.empty() && i.operands[0].kind == Operand::Kind::address)
      mark_read(i.operands[0], read);
  }
  return read;
}

std::uint8_t unread_elements(ptx::Instruction const& i, std::vector<bool> const& read) {
  if (!i.is_load() || i.operands.empty()) return 0;
  Operand const& to = i.operands[0];
  auto const unread = [&](Operand const& o) {
    return o.kind == Operand::Kind::sink || (o.kind == Operand::Kind::reg && o.id < read.size() && !read[o.id]);
  };
  if (to.kind != Operand::Kind::vector) return unread(to) ? 1 : 0;
  std::uint8_t bits = 0;
  for (std::size_t e = 0; e < std::min<std::size_t>(to.elements.size(), 8); ++e)
    if (unread(to.elements[e])) bits = static_cast<std::uint8_t>(bits | 1u << e);
  return bits;
}

Facts::Site site_of(ptx::Instruction const& i, std::vector<bool> const& read) {
  Facts::Site site;
  bool const atomic =
      i.is_atomic() || (i.is(Op::mbarrier) && !i.has("init") && !i.has("inval")) || arrives_at_barrier(i);
  site.strong = atomic || i.has("relaxed") || i.has("acquire") || i.has("release") || i.has("mmio");
  site.strong_global = site.strong || i.has("volatile");
  AsyncRole const role = async_role(i);
  site.asynchronous = role == AsyncRole::copy || role == AsyncRole::group_product || role == AsyncRole::tensor;
  site.completes = i.is(Op::cp, Op::clusterlaunchcontrol) && i.has("mbarrier::complete_tx::bytes");
  site.reads = !i.is(Op::st);
  site.writes = !i.is_load();
  site.aligned = i.is_memory();
  site.releases = i.has("release") || i.has("acq_rel");
  site.unread = unread_elements(i, read);
  for (Operand const& o : i.operands)
    if (o.kind == Operand::Kind::vector) site.elements = static_cast<std::uint8_t>(o.elements.size());
  for (std::size_t orders = 0; i.is_barrier() && orders < ptx::fence_pragmas.size(); ++orders)
    if (i.has(ptx::fence_pragmas[orders])) {
      site.orders = static_cast<std::uint8_t>(orders);
      site.has_flags = true;
    }
  return site;
}

// C11's memory orders are fences before and after an atomic of the same line.
bool is_of_atomic(std::vector<ptx::Instruction> const& text, std::size_t fence) {
  auto const of_same_line = [&](std::size_t i) {
    return i < text.size() && (text[i].is_atomic() || text[i].has("volatile")) &&
           text[i].source.line == text[fence].source.line && text[i].source.file == text[fence].source.file;
  };
  return of_same_line(fence - 1) || of_same_line(fence + 1);
}

bool sync_point(ptx::Instruction const& i, SyncPoint& point) {
  if (i.is_barrier() && i.has("warp")) {
    point = SyncPoint::warp;
    return true;
  }
  if (i.is(Op::membar) || (i.is(Op::fence) && !i.has("proxy"))) {
    point = SyncPoint::fence;
    return true;
  }
  // Waiting for copies or for an mbarrier, and cluster barriers.
  if (i.is(Op::mbarrier) || (i.is(Op::cp) && (i.has("wait_group") || i.has("wait_all"))) ||
      (i.is(Op::barrier) && i.has("cluster"))) {
    point = i.is(Op::cp) ? SyncPoint::fence : SyncPoint::group;
    return true;
  }
  return false;
}

}  // namespace

Facts::Facts(Program const& program) {
  auto const& instructions = program.kernel().instructions;
  std::vector<bool> const read = registers_read(program.kernel());
  sites.resize(instructions.size());
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> lines;  // of barriers
  instruction_of.push_back(0);
  std::uint16_t number = 0;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    // Every instruction may turn out to access memory (copies, matrices); most kernels have fewer than there are
    // numbers.
    sites[i] = site_of(instructions[i], read);
    if (sites[i].has_flags) {
      auto const& at = instructions[i].source;
      auto const index = static_cast<std::uint32_t>(i);
      sites[i].first_of_line =
          at.line == 0 ? index : lines.try_emplace({at.file, at.line, at.column}, index).first->second;
    }
    any_asynchronous |= sites[i].asynchronous;
    bool const known = instructions[i].is_memory();
    bool const unknown_memory =
        !known && (program.instruction_class(static_cast<std::uint32_t>(i)) == Class::memory ||
                   instructions[i].is(Op::mbarrier, Op::wgmma, Op::tcgen05, Op::clusterlaunchcontrol) ||
                   arrives_at_barrier(instructions[i]));
    if (!known && !unknown_memory) continue;
    if (unknown_memory) sites[i].reads = sites[i].writes = true;
    crowded |= number == last_site;
    number = std::min<std::uint16_t>(number + 1, last_site);
    sites[i].number = number;
    if (instruction_of.size() <= number) instruction_of.push_back(static_cast<std::uint32_t>(i));
    any_release |= sites[i].releases || instructions[i].has("acquire");
  }
  for (BasicBlock const& block : program.blocks()) {
    auto& here = points.emplace_back();
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      sites[i].points_before = static_cast<std::uint16_t>(here.size());
      SyncPoint point{};
      any_partial |= sites[i].orders != orders_all;
      if (!sync_point(instructions[i], point)) continue;
      here.push_back({point, i, sites[i].orders, point == SyncPoint::fence && is_of_atomic(instructions, i)});
      any_points = true;
      any_release |= point == SyncPoint::fence;
    }
  }
}

}  // namespace kernelcast::emu
