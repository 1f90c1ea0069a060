#include "emu/check/facts.hpp"

#include <algorithm>
#include <string>

namespace kernelcast::emu {

namespace {

using ptx::Operand;

bool has(ptx::Instruction const& i, std::string_view modifier) {
  return std::find(i.modifiers.begin(), i.modifiers.end(), modifier) != i.modifiers.end();
}

bool is_memory(ptx::Instruction const& i) {
  return i.opcode == "ld" || i.opcode == "ldu" || i.opcode == "st" || i.opcode == "atom" || i.opcode == "red";
}

// cp.async.mbarrier.arrive.
bool arrives_at_barrier(ptx::Instruction const& i) {
  return i.opcode == "cp" && has(i, "mbarrier");
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
    bool const no_destination = i.opcode == "st" || i.opcode == "red" || i.opcode == "bra" || i.opcode == "call" ||
                                i.opcode == "bar" || i.opcode == "barrier" || i.opcode == "brx";
    for (std::size_t o = no_destination ? 0 : 1; o < i.operands.size(); ++o) mark_read(i.operands[o], read);
    // A destination that is part of a whole, or an address: its registers are read as well.
    if (!no_destination && !i.operands.empty() && i.operands[0].kind == Operand::Kind::address)
      mark_read(i.operands[0], read);
  }
  return read;
}

std::uint8_t unread_elements(ptx::Instruction const& i, std::vector<bool> const& read) {
  if ((i.opcode != "ld" && i.opcode != "ldu") || i.operands.empty()) return 0;
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
  bool const atomic = i.opcode == "atom" || i.opcode == "red" ||
                      (i.opcode == "mbarrier" && !has(i, "init") && !has(i, "inval")) || arrives_at_barrier(i);
  site.strong = atomic || has(i, "relaxed") || has(i, "acquire") || has(i, "release") || has(i, "mmio");
  site.strong_global = site.strong || has(i, "volatile");
  site.reads = i.opcode != "st";
  site.writes = i.opcode != "ld" && i.opcode != "ldu";
  site.aligned = is_memory(i);
  site.releases = has(i, "release") || has(i, "acq_rel");
  site.unread = unread_elements(i, read);
  for (Operand const& o : i.operands)
    if (o.kind == Operand::Kind::vector) site.elements = static_cast<std::uint8_t>(o.elements.size());
  return site;
}

bool sync_point(ptx::Instruction const& i, SyncPoint& point) {
  if ((i.opcode == "bar" || i.opcode == "barrier") && has(i, "warp")) {
    point = SyncPoint::warp;
    return true;
  }
  if (i.opcode == "membar" || (i.opcode == "fence" && !has(i, "proxy"))) {
    point = SyncPoint::fence;
    return true;
  }
  // Waiting for copies or for an mbarrier, and cluster barriers.
  if (i.opcode == "mbarrier" || (i.opcode == "cp" && (has(i, "wait_group") || has(i, "wait_all"))) ||
      ((i.opcode == "barrier") && has(i, "cluster"))) {
    point = i.opcode == "cp" ? SyncPoint::fence : SyncPoint::group;
    return true;
  }
  return false;
}

}  // namespace

Facts::Facts(Program const& program) {
  auto const& instructions = program.kernel().instructions;
  std::vector<bool> const read = registers_read(program.kernel());
  sites.resize(instructions.size());
  instruction_of.push_back(0);
  std::uint16_t number = 0;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    // Every instruction may turn out to access memory (copies, matrices); most kernels have fewer than there are
    // numbers.
    sites[i] = site_of(instructions[i], read);
    bool const known = is_memory(instructions[i]);
    bool const unknown_memory = !known && (program.instruction_class(static_cast<std::uint32_t>(i)) == Class::memory ||
                                           instructions[i].opcode == "mbarrier" || arrives_at_barrier(instructions[i]));
    if (!known && !unknown_memory) continue;
    if (unknown_memory) sites[i].reads = sites[i].writes = true;
    number = std::min<std::uint16_t>(number + 1, last_site);
    sites[i].number = number;
    if (instruction_of.size() <= number) instruction_of.push_back(static_cast<std::uint32_t>(i));
    any_release |= sites[i].releases || has(instructions[i], "acquire");
  }
  for (BasicBlock const& block : program.blocks()) {
    auto& here = points.emplace_back();
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      sites[i].points_before = static_cast<std::uint16_t>(here.size());
      SyncPoint point{};
      if (!sync_point(instructions[i], point)) continue;
      here.push_back(point);
      any_points = true;
      any_release |= point == SyncPoint::fence;
    }
  }
}

}  // namespace kernelcast::emu
