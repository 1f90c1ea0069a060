// Calls that are executed: recursion, function pointers. Stacks are in stacks.hpp. Lanes that call different functions,
// or return to different places, become fragments; deeper fragments run first, so that lanes meet again behind the
// call.
#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/machine/machine.hpp"

namespace kernelcast::emu {

namespace {

constexpr std::uint32_t no_rank = ~std::uint32_t{0};

template <class Each>
void every_lane(std::uint32_t const* bits, std::uint32_t warps, Each each) {
  for (std::uint32_t w = 0; w < warps; ++w)
    for (std::uint32_t rest = bits[w]; rest; rest &= rest - 1)
      each(w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(rest)));
}

// Gathers lanes that go on at the same place.
template <class Bits>
void gather(std::vector<std::pair<std::uint32_t, Bits>>& parts, std::uint32_t place, std::uint32_t lane) {
  auto part = std::find_if(parts.begin(), parts.end(), [&](auto const& p) { return p.first == place; });
  if (part == parts.end()) part = parts.insert(part, {place, Bits{}});
  part->second[lane / lanes_per_warp] |= 1u << lane % lanes_per_warp;
}

}  // namespace

void Machine::begin_stacks() {
  stacks_.begin();
  if (!p_.stacked) return;
  frame_slot_ = no_slot;
  for (Pin const& pin : p_.pins)
    if (pin.kind == Pin::Kind::frame) frame_slot_ = pin.slot == no_slot ? no_slot : pin.slot * 4 * stride_;
  if (frame_slot_ == no_slot) return;
  for (Unit& unit : units_) std::memset(unit.registers + frame_slot_, 0, std::size_t{8} * stride_);
}

void Machine::clear(std::vector<CallSite::Saved> const& registers, Unit& unit, Bits const& bits) {
  for (CallSite::Saved const& r : registers) {
    std::byte* const at = unit.registers + std::size_t{4} * stride_ * r.slot;
    every_lane(bits.data(), unit.warps, [&](std::uint32_t lane) {
      if (r.wide)
        reinterpret_cast<std::uint64_t*>(at)[lane] = 0;
      else
        reinterpret_cast<std::uint32_t*>(at)[lane] = 0;
    });
  }
}

void Machine::set_frame(Unit& unit, std::uint32_t lane, std::uint32_t base) {
  if (frame_slot_ != no_slot) reinterpret_cast<std::uint64_t*>(unit.registers + frame_slot_)[lane] = base;
}

void Machine::stack_overflow(std::uint32_t instruction, std::uint32_t thread, std::uint64_t bytes) const {
  throw fault(Finding::Kind::stack_overflow, instruction, thread,
              "the stack of " + std::to_string(stacks_.item_bytes() - p_.local_bytes) + " bytes is full: " +
                  std::to_string(bytes) + " more are needed, " + std::to_string(depth_) + " calls deep");
}

bool Machine::call(Unit& unit, End const& end) {
  CallSite const& site = p_.calls[end.target];
  if (site.callee == CallSite::Callee::indirect) return call_indirect(unit, end, site);
  if (site.callee != CallSite::Callee::function) {
    run_builtin(unit, end, site);
    ++block_;
    return true;
  }
  stacks_.set_limit(enter(unit, end, site, site.callable, bits_));
  ++depth_;
  block_ = p_.callables[site.callable].entry;
  if (!stops_soon()) next_rank_ = no_rank;  // no lane is deeper
  return true;
}

bool Machine::call_indirect(Unit& unit, End const& end, CallSite const& site) {
  auto const* address = reinterpret_cast<std::uint64_t const*>(unit.registers + end.index);
  std::vector<std::pair<std::uint32_t, Bits>> parts;  // by callable
  every_lane(bits_.data(), unit.warps, [&](std::uint32_t lane) {
    std::uint32_t const thread = unit.first_warp * lanes_per_warp + lane;
    auto const callable = std::find_if(p_.callables.begin(), p_.callables.end(), [&](CallableCode const& c) {
      return code_address(c.function) == address[lane];
    });
    if (callable == p_.callables.end())
      throw fault(Finding::Kind::trap, end.instruction, thread,
                  "call of address " + std::to_string(address[lane]) + ", where no function begins");
    if (callable->parameters.size() != site.arguments.size() || callable->results.size() < site.results.size())
      throw fault(Finding::Kind::trap, end.instruction, thread,
                  "call of '" + std::string(p_.module->functions[callable->function].name) + "' with " +
                      std::to_string(site.arguments.size()) + " arguments, which takes " +
                      std::to_string(callable->parameters.size()));
    gather(parts, static_cast<std::uint32_t>(callable - p_.callables.begin()), lane);
  });
  ++depth_;
  for (auto const& [callable, lanes] : parts) {
    stacks_.set_limit(enter(unit, end, site, callable, lanes));
    if (parts.size() > 1) push(unit, p_.callables[callable].entry, lanes);
  }
  if (parts.size() > 1) return false;
  block_ = p_.callables[parts[0].first].entry;
  if (!stops_soon()) next_rank_ = no_rank;
  return true;
}

// Returns the lowest top.
std::uint32_t Machine::enter(Unit& unit, End const& end, CallSite const& site, std::uint32_t callable,
                             Bits const& bits) {
  CallableCode const& callee = p_.callables[callable];
  std::uint32_t lowest_top = ~std::uint32_t{0};
  every_lane(bits.data(), unit.warps, [&](std::uint32_t lane) {
    std::uint32_t const thread = unit.first_warp * lanes_per_warp + lane;
    auto const [base, top, missing] = stacks_.push(thread, end.target, site, callable, callee);
    if (missing > 0) stack_overflow(end.instruction, thread, missing);
    lowest_top = std::min(lowest_top, top);
    set_frame(unit, lane, base);
    if (context_.observed)
      notify_frame(thread, {base, callee.frame_bytes}, base, std::span(callee.parameters).first(site.arguments.size()));
  });
  save_registers(unit, site, bits);
  clear(callee.cleared, unit, bits);
  std::uint32_t lanes = 0;
  for (std::uint32_t w = 0; w < unit.warps; ++w) lanes += static_cast<std::uint32_t>(std::popcount(bits[w]));
  work(end.instruction, std::uint64_t{lanes} * (4 + callee.frame_bytes / 256));
  return lowest_top;
}

// Into the lanes' newest records.
void Machine::save_registers(Unit& unit, CallSite const& site, Bits const& bits) {
  std::uint64_t word = 0;
  std::uint32_t const first = unit.first_warp * lanes_per_warp;
  for (CallSite::Saved const& r : site.saved) {
    std::byte const* const at = unit.registers + std::size_t{4} * stride_ * r.slot;
    every_lane(bits.data(), unit.warps, [&](std::uint32_t lane) {
      std::uint32_t* const to = stacks_.saved(first + lane) + word * stacks_.saved_step();
      if (r.wide) {
        std::uint64_t const value = reinterpret_cast<std::uint64_t const*>(at)[lane];
        to[0] = static_cast<std::uint32_t>(value);
        to[stacks_.saved_step()] = static_cast<std::uint32_t>(value >> 32);
      } else {
        to[0] = reinterpret_cast<std::uint32_t const*>(at)[lane];
      }
    });
    word += r.wide ? 2 : 1;
  }
}

void Machine::notify_frame(std::uint32_t thread, FrameChange::Range fresh, std::uint32_t base,
                           std::span<Slice const> copied) {
  std::vector<FrameChange::Range> ranges;
  for (Slice const& s : copied) ranges.push_back({base + s.offset, s.bytes});
  for (Observer* o : observers_) o->frame({thread, stacks_.stride(), fresh, ranges});
}

bool Machine::give_back(Unit& unit) {
  std::vector<std::pair<std::uint32_t, Bits>> parts;  // by block
  std::uint32_t lowest_top = ~std::uint32_t{0};
  every_lane(bits_.data(), unit.warps, [&](std::uint32_t lane) {
    std::uint32_t const thread = unit.first_warp * lanes_per_warp + lane;
    auto const called = stacks_.called(thread);
    CallSite const& site = p_.calls[called.site];
    std::uint64_t const step = stacks_.saved_step();
    std::uint32_t const* from = stacks_.saved(thread);
    for (CallSite::Saved const& r : site.saved) {
      std::byte* const at = unit.registers + std::size_t{4} * stride_ * r.slot;
      if (r.wide)
        reinterpret_cast<std::uint64_t*>(at)[lane] = std::uint64_t{from[step]} << 32 | from[0];
      else
        reinterpret_cast<std::uint32_t*>(at)[lane] = from[0];
      from += (r.wide ? 2 : 1) * step;
    }
    auto const running = stacks_.pop(thread, site, p_.callables[called.callable]);
    lowest_top = std::min(lowest_top, running.top);
    set_frame(unit, lane, running.base);
    if (context_.observed) notify_frame(thread, {}, running.base, site.results);
    gather(parts, site.return_block, lane);
  });
  --depth_;
  stacks_.set_limit(lowest_top);
  if (parts.size() == 1 && unit.fragments.empty()) {
    block_ = parts[0].first;
    if (!stops_soon()) next_rank_ = no_rank;
    return true;
  }
  for (auto const& [block, lanes] : parts) push(unit, block, lanes);
  return false;
}

void Machine::allocate_stack(Context& c, MicroOp const& op) {
  auto const* bytes = reinterpret_cast<std::uint64_t const*>(c.registers + op.s[0]);
  auto* result = reinterpret_cast<std::uint64_t*>(c.registers + op.d[0]);
  std::uint32_t lowest_top = ~std::uint32_t{0};
  every_lane(c.bits, c.warps, [&](std::uint32_t lane) {
    std::uint32_t const thread = c.first_warp * lanes_per_warp + lane;
    auto const begin = stacks_.grow(thread, bytes[lane], op.extra);
    if (!begin) stack_overflow(op.instruction, thread, bytes[lane]);
    work(op.instruction, 1 + bytes[lane] / 256);
    lowest_top = std::min(lowest_top, static_cast<std::uint32_t>(stacks_.top(thread)));
    if (op.d[0] != no_slot) result[lane] = *begin;
  });
  if (all_running(c)) stacks_.set_limit(lowest_top);
}

void Machine::save_stack(Context& c, MicroOp const& op) {
  auto* result = reinterpret_cast<std::uint64_t*>(c.registers + op.d[0]);
  every_lane(c.bits, c.warps, [&](std::uint32_t lane) {
    if (op.d[0] != no_slot) result[lane] = stacks_.top(c.first_warp * lanes_per_warp + lane);
  });
}

void Machine::restore_stack(Context& c, MicroOp const& op) {
  auto const* value = reinterpret_cast<std::uint64_t const*>(c.registers + op.s[0]);
  std::uint32_t lowest_top = all_running(c) ? ~std::uint32_t{0} : stacks_.limit();
  every_lane(c.bits, c.warps, [&](std::uint32_t lane) {
    std::uint32_t const thread = c.first_warp * lanes_per_warp + lane;
    // Neither below the running frame nor above what is in use.
    if (value[lane] < frame_end(thread) || value[lane] > stacks_.top(thread))
      throw fault(Finding::Kind::trap, op.instruction, thread,
                  "the stack cannot be restored to " + std::to_string(value[lane]) + ": its end is at " +
                      std::to_string(stacks_.top(thread)));
    stacks_.shrink(thread, value[lane]);
    lowest_top = std::min(lowest_top, static_cast<std::uint32_t>(value[lane]));
  });
  stacks_.set_limit(lowest_top);
}

// Not only the lanes for which a guard holds?
bool Machine::all_running(Context const& c) const {
  return std::equal(c.bits, c.bits + c.warps, bits_.begin());
}

// Of the running function's own frame, without what alloca added.
std::uint64_t Machine::frame_end(std::uint32_t thread) {
  if (!stacks_.in_call(thread)) return p_.local_bytes;
  return stacks_.base(thread) + p_.callables[stacks_.called(thread).callable].frame_bytes;
}

void allocate_stack(Context& c, MicroOp const& op) {
  static_cast<Machine*>(c.machine)->allocate_stack(c, op);
}
void save_stack(Context& c, MicroOp const& op) {
  static_cast<Machine*>(c.machine)->save_stack(c, op);
}
void restore_stack(Context& c, MicroOp const& op) {
  static_cast<Machine*>(c.machine)->restore_stack(c, op);
}

}  // namespace kernelcast::emu
