// Calls that are executed: recursion, function pointers.
//
// Each lane has a stack in local memory, upwards from the kernel's own frame. A call pushes the callee's frame, zeroed,
// with the arguments copied into it, and a record (who called, the caller's frame, the registers it needs afterwards);
// `ret` copies the results back and restores what was saved. Records lie in memory of their own, which no address of
// the kernel reaches, but count towards the size of the stack. Lanes that call different functions, or return to
// different places, become fragments; deeper fragments run first, so that lanes meet again behind the call.
// Of records, the same word of all lanes lies together.
//
// A lane may access what lies below its stack's top: its own frame and, through pointers, those of its callers. The
// windows of local accesses end at the lowest top of the running lanes; where one of them is beyond, access_elsewhere()
// looks at each lane's own.
#include <algorithm>
#include <bit>
#include <cstring>

#include "emu/machine/machine.hpp"

namespace kernelcast::emu {

namespace {

constexpr std::uint64_t frame_alignment = 32;
constexpr std::uint32_t no_rank = ~std::uint32_t{0};

// Words of a record, before the saved registers. The caller's own records end where it begins.
enum RecordWord : std::uint32_t { site_word, callable_word, base_word, top_word, record_word, first_saved_word };

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

template <class Each>
void each_lane(std::uint32_t const* bits, std::uint32_t warps, Each each) {
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
  frame_slot_ = no_slot;
  for (Pin const& pin : p_.pins)
    if (pin.kind == Pin::Kind::frame) frame_slot_ = pin.slot == no_slot ? no_slot : pin.slot * 4 * stride_;
  for (std::uint64_t t = 0; t < local_lanes_; ++t) {
    std::memset(stack_of(static_cast<std::uint32_t>(t)), 0, p_.local_bytes);
    stacks_[t] = {0, p_.local_bytes, 0, 0};
  }
  limit_stack(p_.local_bytes);
  if (frame_slot_ == no_slot) return;
  for (Unit& unit : units_) std::memset(unit.registers + frame_slot_, 0, std::size_t{8} * stride_);
}

void Machine::clear(std::vector<CallSite::Saved> const& registers, Unit& unit, Bits const& bits) {
  for (CallSite::Saved const& r : registers) {
    std::byte* const at = unit.registers + std::size_t{4} * stride_ * r.slot;
    each_lane(bits.data(), unit.warps, [&](std::uint32_t lane) {
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

// The windows of accesses to stacks.
void Machine::limit_stack(std::uint32_t bytes) {
  if (stack_limit_ == bytes) return;
  stack_limit_ = bytes;
  for (Access* x : stack_accesses_) x->window.size = bytes;
}

void Machine::stack_overflow(std::uint32_t instruction, std::uint32_t thread, std::uint64_t bytes) const {
  throw fault(Finding::Kind::stack_overflow, instruction, thread,
              "the stack of " + std::to_string(local_bytes_ - p_.local_bytes) + " bytes is full: " +
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
  limit_stack(enter(unit, end, site, site.callable, bits_));
  ++depth_;
  block_ = p_.callables[site.callable].entry;
  if (!yielding_) next_rank_ = no_rank;  // no lane is deeper
  return true;
}

bool Machine::call_indirect(Unit& unit, End const& end, CallSite const& site) {
  auto const* address = reinterpret_cast<std::uint64_t const*>(unit.registers + end.index);
  std::vector<std::pair<std::uint32_t, Bits>> parts;  // by callable
  each_lane(bits_.data(), unit.warps, [&](std::uint32_t lane) {
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
    limit_stack(enter(unit, end, site, callable, lanes));
    if (parts.size() > 1) push(unit, p_.callables[callable].entry, lanes);
  }
  if (parts.size() > 1) return false;
  block_ = p_.callables[parts[0].first].entry;
  if (!yielding_) next_rank_ = no_rank;
  return true;
}

// Returns the lowest top.
std::uint32_t Machine::enter(Unit& unit, End const& end, CallSite const& site, std::uint32_t callable,
                             Bits const& bits) {
  CallableCode const& callee = p_.callables[callable];
  std::uint32_t lowest_top = ~std::uint32_t{0};
  each_lane(bits.data(), unit.warps, [&](std::uint32_t lane) {
    std::uint32_t const thread = unit.first_warp * lanes_per_warp + lane;
    Stack& stack = stacks_[thread];
    std::byte* const memory = stack_of(thread);
    std::uint64_t const base = round_up(stack.top, frame_alignment), top = base + callee.frame_bytes;
    std::uint64_t const records_top = stack.records_top + first_saved_word + site.saved_bytes / 4;
    if (top + 4 * records_top > local_bytes_)
      stack_overflow(end.instruction, thread, top - stack.top + 4 * (records_top - stack.records_top));
    if (records_top * local_lanes_ > records_.size()) records_.resize(2 * records_top * local_lanes_);
    std::uint32_t* const record = record_word_of(thread, stack.records_top);
    record[site_word * local_lanes_] = end.target;
    record[callable_word * local_lanes_] = callable;
    record[base_word * local_lanes_] = stack.base;
    record[top_word * local_lanes_] = stack.top;
    record[record_word * local_lanes_] = stack.record;
    std::memset(memory + stack.top, 0, top - stack.top);
    for (std::size_t k = 0; k < site.arguments.size(); ++k)
      std::memcpy(memory + base + callee.parameters[k].offset, memory + stack.base + site.arguments[k].offset,
                  std::min(callee.parameters[k].bytes, site.arguments[k].bytes));
    stack = {static_cast<std::uint32_t>(base), static_cast<std::uint32_t>(top), stack.records_top,
             static_cast<std::uint32_t>(records_top)};
    lowest_top = std::min(lowest_top, stack.top);
    set_frame(unit, lane, stack.base);
    if (context_.observed)
      notify_frame(thread, {base, callee.frame_bytes}, stack.base,
                   std::span(callee.parameters).first(site.arguments.size()));
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
  std::uint64_t word = first_saved_word;
  std::uint32_t const first = unit.first_warp * lanes_per_warp;
  for (CallSite::Saved const& r : site.saved) {
    std::byte const* const at = unit.registers + std::size_t{4} * stride_ * r.slot;
    each_lane(bits.data(), unit.warps, [&](std::uint32_t lane) {
      std::uint32_t* const to = record_word_of(first + lane, stacks_[first + lane].record + word);
      if (r.wide) {
        std::uint64_t const value = reinterpret_cast<std::uint64_t const*>(at)[lane];
        to[0] = static_cast<std::uint32_t>(value);
        to[local_lanes_] = static_cast<std::uint32_t>(value >> 32);
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
  for (Observer* o : observers_) o->frame({thread, local_stride_, fresh, ranges});
}

bool Machine::give_back(Unit& unit) {
  std::vector<std::pair<std::uint32_t, Bits>> parts;  // by block
  std::uint32_t lowest_top = ~std::uint32_t{0};
  each_lane(bits_.data(), unit.warps, [&](std::uint32_t lane) {
    std::uint32_t const thread = unit.first_warp * lanes_per_warp + lane;
    Stack& stack = stacks_[thread];
    std::byte* const memory = stack_of(thread);
    std::uint32_t const* const record = record_word_of(thread, stack.record);
    CallSite const& site = p_.calls[record[site_word * local_lanes_]];
    CallableCode const& callee = p_.callables[record[callable_word * local_lanes_]];
    std::uint32_t const base = record[base_word * local_lanes_];
    std::uint32_t const* from = record + first_saved_word * local_lanes_;
    for (CallSite::Saved const& r : site.saved) {
      std::byte* const at = unit.registers + std::size_t{4} * stride_ * r.slot;
      if (r.wide)
        reinterpret_cast<std::uint64_t*>(at)[lane] = std::uint64_t{from[local_lanes_]} << 32 | from[0];
      else
        reinterpret_cast<std::uint32_t*>(at)[lane] = from[0];
      from += (r.wide ? 2 : 1) * local_lanes_;
    }
    for (std::size_t k = 0; k < site.results.size(); ++k)
      std::memcpy(memory + base + site.results[k].offset, memory + stack.base + callee.results[k].offset,
                  std::min(callee.results[k].bytes, site.results[k].bytes));
    stack = {base, record[top_word * local_lanes_], record[record_word * local_lanes_], stack.record};
    lowest_top = std::min(lowest_top, stack.top);
    set_frame(unit, lane, stack.base);
    if (context_.observed) notify_frame(thread, {}, stack.base, site.results);
    gather(parts, site.return_block, lane);
  });
  --depth_;
  limit_stack(lowest_top);
  if (parts.size() == 1 && unit.fragments.empty()) {
    block_ = parts[0].first;
    if (!yielding_) next_rank_ = no_rank;
    return true;
  }
  for (auto const& [block, lanes] : parts) push(unit, block, lanes);
  return false;
}

void Machine::allocate_stack(Context& c, MicroOp const& op) {
  auto const* bytes = reinterpret_cast<std::uint64_t const*>(c.registers + op.s[0]);
  auto* result = reinterpret_cast<std::uint64_t*>(c.registers + op.d[0]);
  std::uint32_t lowest_top = ~std::uint32_t{0};
  each_lane(c.bits, c.warps, [&](std::uint32_t lane) {
    std::uint32_t const thread = c.first_warp * lanes_per_warp + lane;
    Stack& stack = stacks_[thread];
    std::uint64_t const begin = round_up(stack.top, op.extra);
    std::uint64_t const end = local_bytes_ - std::uint64_t{4} * stack.records_top;
    if (begin > end || bytes[lane] > end - begin) stack_overflow(op.instruction, thread, bytes[lane]);
    std::memset(stack_of(thread) + stack.top, 0, begin + bytes[lane] - stack.top);
    work(op.instruction, 1 + bytes[lane] / 256);
    stack.top = static_cast<std::uint32_t>(begin + bytes[lane]);
    lowest_top = std::min(lowest_top, stack.top);
    if (op.d[0] != no_slot) result[lane] = begin;
  });
  if (all_running(c)) limit_stack(lowest_top);
}

void Machine::save_stack(Context& c, MicroOp const& op) {
  auto* result = reinterpret_cast<std::uint64_t*>(c.registers + op.d[0]);
  each_lane(c.bits, c.warps, [&](std::uint32_t lane) {
    if (op.d[0] != no_slot) result[lane] = stacks_[c.first_warp * lanes_per_warp + lane].top;
  });
}

void Machine::restore_stack(Context& c, MicroOp const& op) {
  auto const* value = reinterpret_cast<std::uint64_t const*>(c.registers + op.s[0]);
  std::uint32_t lowest_top = all_running(c) ? ~std::uint32_t{0} : stack_limit_;
  each_lane(c.bits, c.warps, [&](std::uint32_t lane) {
    std::uint32_t const thread = c.first_warp * lanes_per_warp + lane;
    Stack& stack = stacks_[thread];
    // Neither below the running frame nor above what is in use.
    if (value[lane] < frame_end(thread) || value[lane] > stack.top)
      throw fault(Finding::Kind::trap, op.instruction, thread,
                  "the stack cannot be restored to " + std::to_string(value[lane]) + ": its end is at " +
                      std::to_string(stack.top));
    stack.top = static_cast<std::uint32_t>(value[lane]);
    lowest_top = std::min(lowest_top, stack.top);
  });
  limit_stack(lowest_top);
}

// Not only the lanes for which a guard holds?
bool Machine::all_running(Context const& c) const {
  return std::equal(c.bits, c.bits + c.warps, bits_.begin());
}

// Of the running function's own frame, without what alloca added.
std::uint64_t Machine::frame_end(std::uint32_t thread) {
  Stack const& stack = stacks_[thread];
  if (stack.records_top == 0) return p_.local_bytes;
  std::uint32_t const* const record = record_word_of(thread, stack.record);
  return stack.base + p_.callables[record[callable_word * local_lanes_]].frame_bytes;
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
