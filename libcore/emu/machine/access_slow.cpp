// The rare paths of accesses, and what handlers report: where addresses lie that the access's window does not hold,
// findings with their text, events for observers.
#include <algorithm>
#include <bit>

#include "emu/machine/machine.hpp"

namespace kernelcast::emu {

namespace {

using ptx::StateSpace;

std::string_view verb(Direction d) {
  return d == Direction::load ? "load" : d == Direction::store ? "store" : "atomic";
}

}  // namespace

void access_elsewhere(Context& c, MicroOp const& op) {
  static_cast<Machine*>(c.machine)->access_elsewhere(c, op);
}
void notify_access(Context& c, MicroOp const& op, Placement const& placement, std::uint64_t delta) {
  static_cast<Machine*>(c.machine)->notify_access(c, op, placement, delta);
}
void notify_guarded(Context& c, MicroOp const& op) {
  static_cast<Machine*>(c.machine)->notify_guarded(c, op);
}
void refuse(Context& c, MicroOp const& op) {
  static_cast<Machine*>(c.machine)->refuse(c, op);
}

void Machine::notify_access(Context const& c, MicroOp const& op, Placement const& placement, std::uint64_t delta) {
  MemoryAccess event;
  event.instruction = op.instruction;
  event.space = op.access->window.space;
  event.direction = op.access->direction;
  event.bytes_per_lane = op.access->bytes;
  event.base = op.access->window.base + delta;
  event.offsets = placement.offsets;
  event.pattern = placement.number;
  event.steps = placement.steps;
  Access const& x = *op.access;
  event.region = x.window.base;
  event.region_bytes = x.window.size;
  // Of offsets that are negative the base lies before the window: no pointer arithmetic.
  event.host = reinterpret_cast<std::byte const*>(reinterpret_cast<std::uintptr_t>(x.window.host) + delta);
  event.lane_stride = x.window.lane_stride;
  if (x.direction == Direction::store && x.element_bytes * x.elements == x.bytes && x.slots[0] != no_slot) {
    event.registers = c.registers;
    event.slots = x.slots;
    event.element_bytes = x.element_bytes;
    event.elements = x.elements;
  }
  event.lanes = {c.bits, c.warps, c.first_warp, std::equal(c.bits, c.bits + c.warps, c.exists), c.group_lanes};
  for (Observer* o : observers_) o->memory(event);
}

void Machine::notify_guarded(Context const& c, MicroOp const& op) {
  Lanes const lanes = {c.bits, c.warps, c.first_warp, std::equal(c.bits, c.bits + c.warps, c.exists), c.group_lanes};
  for (Observer* o : observers_) o->guarded(op.instruction, lanes);
}

void Machine::refuse(Context const& c, MicroOp const& op) {
  ptx::Instruction const& i = p_.kernel->instructions[op.instruction];
  // What the decoder could not do with it; nothing to add where it is the opcode itself.
  auto const* reason = static_cast<std::string const*>(op.data);
  bool const told = reason && !reason->empty() && !reason->starts_with("opcode '");
  throw fault(Finding::Kind::unknown_opcode, op.instruction, first_thread(c.bits),
              "opcode '" + ptx::full_opcode(i) + "' cannot be executed" + (told ? ": " + *reason : ""));
}

// One lane or more is outside the window, or misaligned. Finds the memory of each lane; throws for the first that has
// none. Then runs the access again, for all lanes at once if they share a window, else for one space after the other.
void Machine::access_elsewhere(Context& c, MicroOp const& op) {
  Access& x = *op.access;
  work(op.instruction, lanes_per_warp * c.warps);
  auto* addresses = reinterpret_cast<std::uint64_t*>(c.registers + c.scratch);
  StateSpace spaces[max_lanes_per_unit];
  Memory::Buffer const* first_buffer = nullptr;
  bool one_buffer = true;
  std::uint64_t lowest = ~std::uint64_t{0}, highest = 0;

  auto complain = [&](Finding::Kind kind, std::uint32_t lane, StateSpace space, std::string const& where) {
    std::string message = std::string(ptx::name(space)) + " " + std::string(verb(x.direction)) + " of " +
                          std::to_string(x.bytes) + " bytes " + where;
    throw fault(kind, op.instruction, c.first_warp * lanes_per_warp + lane, std::move(message));
  };

  for (std::uint32_t w = 0; w < c.warps; ++w)
    for (std::uint32_t bits = c.bits[w]; bits; bits &= bits - 1) {
      std::uint32_t const lane = w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(bits));
      std::uint64_t address = 0;
      if (x.address == Access::Address::wide) {
        address = reinterpret_cast<std::uint64_t const*>(c.registers + op.s[0])[lane] + x.displacement;
      } else {
        std::uint32_t const narrow = reinterpret_cast<std::uint32_t const*>(c.registers + op.s[0])[lane];
        if (x.address == Access::Address::narrow) {
          address = static_cast<std::uint32_t>(narrow + x.displacement);
        } else {
          std::uint64_t const index =
              x.index_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(narrow)))
                             : narrow;
          address = x.uniform_base + index * x.scale + x.displacement;
        }
      }
      StateSpace space = x.space;
      if (space == StateSpace::generic) {
        std::uint64_t const window = address >> window_bits << window_bits;
        space = window == shared_window      ? StateSpace::shared
                : window == local_window     ? StateSpace::local
                : window == parameter_window ? StateSpace::param
                                             : StateSpace::global;
        if (space != StateSpace::global) address -= window;
      }
      if (space == StateSpace::global || space == StateSpace::constant) {
        Memory::Buffer const* buffer = device_.find(address);
        if (!buffer || address - buffer->address + x.bytes > buffer->size) {
          Memory::Buffer const* near = buffer ? buffer : device_.nearest(address);
          if (!near)
            complain(Finding::Kind::out_of_bounds, lane, space,
                     "at address " + std::to_string(address) + ": there are no buffers");
          std::int64_t const offset = static_cast<std::int64_t>(address - near->address);
          bool const far = offset < -(std::int64_t{1} << 30) ||
                           offset > static_cast<std::int64_t>(near->size) + (std::int64_t{1} << 30);
          complain(Finding::Kind::out_of_bounds, lane, space,
                   far ? "at address " + std::to_string(address) + ", which is in no buffer"
                       : "at offset " + std::to_string(offset) + " of buffer '" + near->name + "' (" +
                             std::to_string(near->size) + " bytes)");
        }
        if (buffer->freed)
          complain(Finding::Kind::use_after_free, lane, space,
                   "at offset " + std::to_string(address - buffer->address) + " of buffer '" + buffer->name + "' (" +
                       std::to_string(buffer->size) + " bytes), which has been freed");
        if (address % x.bytes != 0)
          complain(Finding::Kind::misaligned, lane, space,
                   "at offset " + std::to_string(address - buffer->address) + " of buffer '" + buffer->name + "' (" +
                       std::to_string(buffer->size) + " bytes), which is not a multiple of " + std::to_string(x.bytes));
        if (!first_buffer) first_buffer = buffer;
        one_buffer &= buffer == first_buffer;
        lowest = std::min(lowest, address);
        highest = std::max(highest, address + x.bytes);
      } else {
        std::uint64_t const size = space == StateSpace::shared  ? shared_bytes_
                                   : space == StateSpace::local ? local_top(c.first_warp * lanes_per_warp + lane)
                                                                : parameters_.size();
        if (address > size || size - address < x.bytes)
          complain(Finding::Kind::out_of_bounds, lane, space,
                   "at offset " + std::to_string(static_cast<std::int64_t>(address)) + " (" + std::to_string(size) +
                       (space == StateSpace::local && p_.stacked ? " bytes of stack in use)" : " bytes)"));
        if (address % x.bytes != 0)
          complain(Finding::Kind::misaligned, lane, space,
                   "at offset " + std::to_string(address) + ", which is not a multiple of " + std::to_string(x.bytes));
      }
      addresses[lane] = address;
      spaces[lane] = space;
    }

  Access copy = x;
  copy.address = Access::Address::wide;
  copy.displacement = 0;
  copy.follows = false;
  copy.placement = c.spare;
  MicroOp again = op;
  again.access = &copy;
  again.s[0] = c.scratch;
  std::uint32_t const* const outer_bits = c.bits;
  std::uint32_t const* const outer_lanes = c.lanes;
  std::uint32_t bits[max_warps_per_unit], lanes[max_lanes_per_unit];
  // Runs the lanes that `belongs` chooses.
  auto run_part = [&](auto belongs) {
    std::uint32_t any = 0;
    for (std::uint32_t w = 0; w < c.warps; ++w) {
      bits[w] = 0;
      for (std::uint32_t rest = outer_bits[w]; rest; rest &= rest - 1) {
        std::uint32_t const lane = static_cast<std::uint32_t>(std::countr_zero(rest));
        if (belongs(w * lanes_per_warp + lane)) bits[w] |= 1u << lane;
      }
      any |= bits[w];
    }
    if (!any) return;
    p_.handlers->expand(bits, c.warps, lanes);
    c.bits = bits;
    c.lanes = lanes;
    again.masked(c, again);
    c.bits = outer_bits;
    c.lanes = outer_lanes;
  };
  auto in_space = [&](StateSpace s) { return [&spaces, s](std::uint32_t lane) { return spaces[lane] == s; }; };

  copy.window = shared_window_of_group();
  run_part(in_space(StateSpace::shared));
  copy.window = local_window_of_lanes(x.argument ? StateSpace::param : StateSpace::local);
  run_part(in_space(StateSpace::local));
  copy.window = {0, parameters_.size(), parameters_.data(), 0, 0, StateSpace::param};
  run_part(in_space(StateSpace::param));
  if (!first_buffer) return;
  StateSpace const space = x.space == StateSpace::constant ? StateSpace::constant : StateSpace::global;
  if (one_buffer && first_buffer->size <= 0xffffffffu) {
    copy.window = {first_buffer->address, first_buffer->size, first_buffer->data, first_buffer->address, 0, space};
    if (x.address == Access::Address::wide) x.window = copy.window;  // most likely the next access is there too
    run_part(in_space(space));
    return;
  }
  // Several buffers, or a large one: by pieces of 4 GiB.
  for (std::uint64_t begin = lowest / 256 * 256; begin < highest; begin += 0xffffff00u) {
    copy.window = {begin, 0xffffff00u + std::uint64_t{x.bytes}, memory_.host(begin), begin, 0, space};
    run_part([&](std::uint32_t lane) { return spaces[lane] == space && addresses[lane] - begin < 0xffffff00u; });
  }
}

}  // namespace kernelcast::emu
