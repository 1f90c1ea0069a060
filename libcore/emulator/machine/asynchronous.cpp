// What matrix, copy and mbarrier handlers need of the machine: findings about a lane, and the notification of lanes
// that find an mbarrier's phase complete.
#include <algorithm>
#include <functional>

#include "emulator/machine/machine.hpp"
#include "emulator/opcodes/copy.hpp"
#include "emulator/opcodes/matrix.hpp"

namespace kernelcast::emu {

void stop_at_lane(Context& c, MicroOp const& op, Finding::Kind kind, std::uint32_t lane, char const* message) {
  static_cast<Machine*>(c.machine)->stop_at_lane(c, op, kind, lane, message);
}
void pass_over_lane(Context& c, MicroOp const& op, Finding::Kind kind, std::uint32_t lane, char const* message) {
  static_cast<Machine*>(c.machine)->pass_over_lane(c, op, kind, lane, message);
}
void notify_phase(Context& c, std::uint32_t const* bits) {
  static_cast<Machine*>(c.machine)->notify_phase(c, bits);
}
void wait_for_phases(Context& c, Phase const* phases, std::uint32_t count) {
  PhaseWait wait;
  wait.count = count;
  std::copy_n(phases, count, wait.phases.begin());
  static_cast<Machine*>(c.machine)->wait_for_phases(c, wait);
}

void Machine::stop_at_lane(Context const& c, MicroOp const& op, Finding::Kind kind, std::uint32_t lane,
                           char const* message) const {
  ptx::Instruction const& i = p_.kernel->instructions[op.instruction];
  throw fault(kind, op.instruction, c.first_warp * lanes_per_warp + lane, ptx::full_opcode(i) + ": " + message);
}

void Machine::pass_over_lane(Context const& c, MicroOp const& op, Finding::Kind kind, std::uint32_t lane,
                             char const* message) const {
  pass_over(kind, op.instruction, c.first_warp * lanes_per_warp + lane,
            [&] { return ptx::full_opcode(p_.kernel->instructions[op.instruction]) + ": " + message; });
}

// Arrivals in the phase are not recorded: all work-items count as having arrived.
void Machine::notify_phase(Context const& c, std::uint32_t const* bits) const {
  std::array<std::uint32_t, 32> waiting{}, arrived{};
  std::uint32_t any = 0;
  for (std::uint32_t w = 0; w < c.warps; ++w) any |= waiting[c.first_warp + w] = bits[w];
  if (!any) return;
  for (Unit const& unit : units_)
    for (std::uint32_t w = 0; w < unit.warps; ++w) arrived[unit.first_warp + w] = unit.exists[w];
  std::uint32_t const warps = (threads_ + lanes_per_warp - 1) / lanes_per_warp;
  for (Observer* o : observers_) o->meet({waiting.data(), arrived.data(), warps, false, true});
}

// The running fragment stops at the end of its block, unless some of its lanes have not tested. Objects in other memory
// than the group's own are tested again and again: it may be gone, and others may write it.
void Machine::wait_for_phases(Context const& c, PhaseWait const& wait) {
  std::less<> const before;
  bool const own = std::all_of(wait.phases.begin(), wait.phases.begin() + wait.count, [&](Phase const& phase) {
    return !before(phase.object, shared_.data()) && before(phase.object, shared_.data() + shared_.size());
  });
  if (!own || !std::equal(c.bits, c.bits + c.warps, bits_.begin())) return;
  waits_ = wait;
  next_rank_ = 0;
}

}  // namespace kernelcast::emu
