// The rare paths of accesses, and what handlers report: where addresses lie that the access's window does not hold,
// findings with their text, events for observers.
#include <algorithm>
#include <bit>
#include <utility>

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

namespace {

std::uint64_t address_of(Context const& c, MicroOp const& op, std::uint32_t lane) {
  Access const& x = *op.access;
  if (x.address == Access::Address::wide)
    return reinterpret_cast<std::uint64_t const*>(c.registers + op.s[0])[lane] + x.displacement;
  std::uint32_t const narrow = reinterpret_cast<std::uint32_t const*>(c.registers + op.s[0])[lane];
  if (x.address == Access::Address::narrow) return static_cast<std::uint32_t>(narrow + x.displacement);
  std::uint64_t const index =
      x.index_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(narrow)))
                     : narrow;
  return x.uniform_base + index * x.scale + x.displacement;
}

// The space of a generic address, which becomes one of that space.
StateSpace resolve(std::uint64_t& address) {
  std::uint64_t const window = address >> window_bits << window_bits;
  StateSpace const space = window == shared_window      ? StateSpace::shared
                           : window == local_window     ? StateSpace::local
                           : window == parameter_window ? StateSpace::param
                                                        : StateSpace::global;
  if (space != StateSpace::global) address -= window;
  return space;
}

std::string place_in(Memory::Buffer const& buffer, std::uint64_t address) {
  return "at offset " + std::to_string(static_cast<std::int64_t>(address - buffer.address)) + " of buffer '" +
         buffer.name + "' (" + std::to_string(buffer.size) + " bytes)";
}

}  // namespace

// Where the lanes of an access lie.
struct Machine::Elsewhere {
  std::uint64_t* addresses = nullptr;  // by lane
  StateSpace spaces[max_lanes_per_unit];
  Memory::Buffer const* buffer = nullptr;  // in buffers: the first, whether it is the only one, and between what
  bool one_buffer = true;
  std::uint64_t lowest = ~std::uint64_t{0}, highest = 0;

  void add(Memory::Buffer const& found, std::uint64_t address, std::uint32_t bytes) {
    if (!buffer) buffer = &found;
    one_buffer &= &found == buffer;
    lowest = std::min(lowest, address);
    highest = std::max(highest, address + bytes);
  }
};

Fault Machine::access_fault(Context const& c, MicroOp const& op, LaneAddress const& at, Finding::Kind kind,
                            std::string const& where) const {
  return fault(kind, op.instruction, c.first_warp * lanes_per_warp + at.lane,
               std::string(ptx::name(at.space)) + " " + std::string(verb(op.access->direction)) + " of " +
                   std::to_string(op.access->bytes) + " bytes " + where);
}

// The buffer that an address of global or constant memory lies in.
Memory::Buffer const& Machine::buffer_of(Context const& c, MicroOp const& op, LaneAddress const& at) const {
  std::uint32_t const bytes = op.access->bytes;
  Memory::Buffer const* const buffer = device_.find(at.address);
  if (!buffer || at.address - buffer->address + bytes > buffer->size) {
    Memory::Buffer const* const near = buffer ? buffer : device_.nearest(at.address);
    std::string const address = "at address " + std::to_string(at.address);
    if (!near) throw access_fault(c, op, at, Finding::Kind::out_of_bounds, address + ": there are no buffers");
    std::int64_t const offset = static_cast<std::int64_t>(at.address - near->address);
    bool const far =
        offset < -(std::int64_t{1} << 30) || offset > static_cast<std::int64_t>(near->size) + (std::int64_t{1} << 30);
    throw access_fault(c, op, at, Finding::Kind::out_of_bounds,
                       far ? address + ", which is in no buffer" : place_in(*near, at.address));
  }
  if (buffer->freed)
    throw access_fault(c, op, at, Finding::Kind::use_after_free,
                       place_in(*buffer, at.address) + ", which has been freed");
  if (at.address % bytes != 0)
    throw access_fault(c, op, at, Finding::Kind::misaligned,
                       place_in(*buffer, at.address) + ", which is not a multiple of " + std::to_string(bytes));
  return *buffer;
}

// The same for shared, local and parameter memory.
void Machine::check_offset(Context const& c, MicroOp const& op, LaneAddress const& at) const {
  std::uint32_t const bytes = op.access->bytes;
  bool const local = at.space == StateSpace::local;
  std::uint64_t const size = at.space == StateSpace::shared ? shared_bytes_
                             : local                        ? stacks_.top(c.first_warp * lanes_per_warp + at.lane)
                                                            : parameters_.size();
  if (at.address > size || size - at.address < bytes)
    throw access_fault(c, op, at, Finding::Kind::out_of_bounds,
                       "at offset " + std::to_string(static_cast<std::int64_t>(at.address)) + " (" +
                           std::to_string(size) + (local && p_.stacked ? " bytes of stack in use)" : " bytes)"));
  if (at.address % bytes != 0)
    throw access_fault(
        c, op, at, Finding::Kind::misaligned,
        "at offset " + std::to_string(at.address) + ", which is not a multiple of " + std::to_string(bytes));
}

// Throws for the first lane that accesses no memory.
void Machine::find_lanes(Context const& c, MicroOp const& op, Elsewhere& found) const {
  for (std::uint32_t w = 0; w < c.warps; ++w)
    for (std::uint32_t bits = c.bits[w]; bits; bits &= bits - 1) {
      LaneAddress at;
      at.lane = w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(bits));
      at.address = address_of(c, op, at.lane);
      at.space = op.access->space == StateSpace::generic ? resolve(at.address) : op.access->space;
      if (at.space == StateSpace::global || at.space == StateSpace::constant)
        found.add(buffer_of(c, op, at), at.address, op.access->bytes);
      else
        check_offset(c, op, at);
      found.addresses[at.lane] = at.address;
      found.spaces[at.lane] = at.space;
    }
}

// Runs an operation for those of the lanes that `belongs` chooses.
template <class Belongs>
void Machine::run_part(Context& c, MicroOp const& op, Belongs const& belongs) const {
  std::uint32_t bits[max_warps_per_unit], lanes[max_lanes_per_unit];
  std::uint32_t any = 0;
  for (std::uint32_t w = 0; w < c.warps; ++w) {
    bits[w] = 0;
    for (std::uint32_t rest = c.bits[w]; rest; rest &= rest - 1) {
      std::uint32_t const lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      if (belongs(w * lanes_per_warp + lane)) bits[w] |= 1u << lane;
    }
    any |= bits[w];
  }
  if (!any) return;
  p_.handlers->expand(bits, c.warps, lanes);
  auto const* const outer_bits = std::exchange(c.bits, bits);
  auto const* const outer_lanes = std::exchange(c.lanes, lanes);
  op.masked(c, op);
  c.bits = outer_bits;
  c.lanes = outer_lanes;
}

// One lane or more is outside the window, or misaligned. Finds the memory of each lane; throws for the first that has
// none. Then runs the access again, for all lanes at once if they share a window, else for one space after the other.
void Machine::access_elsewhere(Context& c, MicroOp const& op) {
  Access& x = *op.access;
  work(op.instruction, lanes_per_warp * c.warps);
  Elsewhere found;
  found.addresses = reinterpret_cast<std::uint64_t*>(c.registers + c.scratch);
  find_lanes(c, op, found);

  Access copy = x;
  copy.address = Access::Address::wide;
  copy.displacement = 0;
  copy.follows = false;
  copy.placement = c.spare;
  MicroOp again = op;
  again.access = &copy;
  again.s[0] = c.scratch;
  auto const run_space = [&](StateSpace space, Window const& window) {
    copy.window = window;
    run_part(c, again, [&](std::uint32_t lane) { return found.spaces[lane] == space; });
  };
  run_space(StateSpace::shared, shared_window_of_group());
  run_space(StateSpace::local, local_window_of_lanes(x.argument ? StateSpace::param : StateSpace::local));
  run_space(StateSpace::param, {0, parameters_.size(), parameters_.data(), 0, 0, StateSpace::param});
  if (!found.buffer) return;
  StateSpace const space = x.space == StateSpace::constant ? StateSpace::constant : StateSpace::global;
  if (found.one_buffer && found.buffer->size <= 0xffffffffu) {
    Window const window{found.buffer->address, found.buffer->size, found.buffer->data, found.buffer->address, 0, space};
    if (x.address == Access::Address::wide) x.window = window;  // most likely the next access is there too
    return run_space(space, window);
  }
  // Several buffers, or a large one: by pieces of 4 GiB.
  for (std::uint64_t begin = found.lowest / 256 * 256; begin < found.highest; begin += 0xffffff00u) {
    copy.window = {begin, 0xffffff00u + std::uint64_t{x.bytes}, memory_.host(begin), begin, 0, space};
    run_part(c, again, [&](std::uint32_t lane) {
      return found.spaces[lane] == space && found.addresses[lane] - begin < 0xffffff00u;
    });
  }
}

}  // namespace kernelcast::emu
