// The rare paths of accesses, and what handlers report: where addresses lie that the access's window does not hold,
// findings with their text, events for observers.
#include <algorithm>
#include <bit>
#include <utility>

#include "emulator/machine/machine.hpp"

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
  event.issuer = c.issuer;
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
  std::string const origin = buffer.origin ? buffer.origin() : "";
  return "at offset " + std::to_string(static_cast<std::int64_t>(address - buffer.address)) + " of buffer '" +
         buffer.name + "' (" + std::to_string(buffer.size) + " bytes" +
         (origin.empty() ? ")" : ", allocated " + origin + ")");
}

bool in_buffers(StateSpace space) {
  return space == StateSpace::global || space == StateSpace::constant;
}

constexpr StateSpace in_no_space = StateSpace::reg, in_peer = StateSpace::sreg;

}  // namespace

// Where the lanes of an access lie.
struct Machine::Elsewhere {
  std::uint64_t* addresses = nullptr;  // by lane
  StateSpace spaces[max_lanes_per_unit];
  std::uint8_t peers[max_lanes_per_unit];  // in_peer: the rank
  bool some_in_peers = false;
  Memory::Buffer const* buffer = nullptr;  // in buffers: the first, whether it is the only one, and between what
  bool one_buffer = true;
  bool some_dropped = false;  // lanes that are in_no_space
  std::uint64_t lowest = ~std::uint64_t{0}, highest = 0;

  void add(Memory::Buffer const& found, std::uint64_t address, std::uint32_t bytes) {
    if (!buffer) buffer = &found;
    one_buffer &= &found == buffer;
    lowest = std::min(lowest, address);
    highest = std::max(highest, address + bytes);
  }
};

// Of shared, local or parameter memory.
std::uint64_t Machine::bytes_in_use(Context const& c, LaneAddress const& at) const {
  return at.space == StateSpace::shared  ? shared_bytes_
         : at.space == StateSpace::local ? stacks_.top(c.first_warp * lanes_per_warp + at.lane)
                                         : parameters_.size();
}

// What is wrong with an access of so many bytes, if anything; in global and constant memory `buffer` is where it lies.
std::optional<Finding::Kind> Machine::wrong_with(Context const& c, LaneAddress const& at, std::uint32_t bytes,
                                                 Memory::Buffer const*& buffer) const {
  if (in_buffers(at.space)) {
    buffer = device_.find(at.address);
    if (!buffer || at.address - buffer->address + bytes > buffer->size) return Finding::Kind::out_of_bounds;
    if (buffer->freed) return Finding::Kind::use_after_free;
  } else {
    std::uint64_t const size = bytes_in_use(c, at);
    if (at.address > size || size - at.address < bytes) return Finding::Kind::out_of_bounds;
  }
  if (at.address % bytes != 0) return Finding::Kind::misaligned;
  return {};
}

std::string Machine::message_about(Context const& c, MicroOp const& op, LaneAddress const& at,
                                   Finding::Kind kind) const {
  std::uint32_t const bytes = op.access->bytes;
  std::string text = std::string(ptx::name(at.space)) + " " + std::string(verb(op.access->direction)) + " of " +
                     std::to_string(bytes) + " bytes ";
  if (in_buffers(at.space)) {
    Memory::Buffer const* const in = device_.find(at.address);
    Memory::Buffer const* const near = in ? in : device_.nearest(at.address);
    std::string const address = "at address " + std::to_string(at.address);
    if (!near) return text + address + ": there are no buffers";
    std::int64_t const offset = static_cast<std::int64_t>(at.address - near->address);
    bool const far =
        offset < -(std::int64_t{1} << 30) || offset > static_cast<std::int64_t>(near->size) + (std::int64_t{1} << 30);
    text += far ? address + ", which is in no buffer" : place_in(*near, at.address);
  } else {
    text += "at offset " + std::to_string(static_cast<std::int64_t>(at.address));
    if (kind == Finding::Kind::out_of_bounds)
      text += " (" + std::to_string(bytes_in_use(c, at)) +
              (at.space == StateSpace::local && p_.stacked ? " bytes of stack in use)" : " bytes)");
  }
  if (kind == Finding::Kind::use_after_free) text += ", which has been freed";
  if (kind == Finding::Kind::misaligned) text += ", which is not a multiple of " + std::to_string(bytes);
  return text;
}

std::uint64_t Machine::without_own_rank(std::uint64_t address) const {
  std::uint64_t const own = std::uint64_t{cluster_rank_ + cluster_rank_bias} << cluster_rank_shift;
  return address >> cluster_rank_shift == own >> cluster_rank_shift ? address - own : address;
}

// Another group of the cluster, where the address lies in its shared memory; null where in none.
Machine const* Machine::peer_at(StateSpace space, std::uint64_t address, std::uint32_t& rank) const {
  if (!cluster_ || space != StateSpace::shared || address >> cluster_rank_shift == 0) return nullptr;
  rank = static_cast<std::uint32_t>(address >> cluster_rank_shift) - cluster_rank_bias;
  return rank < cluster_->members.size() && rank != cluster_rank_ ? cluster_->members[rank] : nullptr;
}

// Throws for the first lane that accesses no memory, or leaves such lanes in no space.
void Machine::find_lanes(Context const& c, MicroOp const& op, Elsewhere& found) const {
  for (std::uint32_t w = 0; w < c.warps; ++w)
    for (std::uint32_t bits = c.bits[w]; bits; bits &= bits - 1) {
      LaneAddress at;
      at.lane = w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(bits));
      at.address = address_of(c, op, at.lane);
      at.space = op.access->space == StateSpace::generic ? resolve(at.address) : op.access->space;
      // Where an address of shared memory is asked for and a generic one is given, devices take its lower half.
      if (op.access->space == StateSpace::shared && at.address >> window_bits == shared_window >> window_bits)
        at.address -= shared_window;
      if (at.space == StateSpace::shared && p_.of_pairs) at.address = without_own_rank(at.address);
      std::uint32_t rank = 0;
      if (Machine const* const peer = peer_at(at.space, at.address, rank)) {
        std::uint64_t const offset = at.address & ((std::uint64_t{1} << cluster_rank_shift) - 1);
        if (offset + op.access->bytes <= peer->shared_bytes_ && offset % op.access->bytes == 0) {
          found.addresses[at.lane] = offset;
          found.spaces[at.lane] = in_peer;
          found.peers[at.lane] = static_cast<std::uint8_t>(rank);
          found.some_in_peers = true;
          continue;
        }
      }
      Memory::Buffer const* buffer = nullptr;
      if (auto const wrong = wrong_with(c, at, op.access->bytes, buffer)) {
        pass_over(*wrong, op.instruction, c.first_warp * lanes_per_warp + at.lane,
                  [&] { return message_about(c, op, at, *wrong); });
        at = {at.lane, in_no_space, 0};
        found.some_dropped = true;
      } else if (buffer) {
        found.add(*buffer, at.address, op.access->bytes);
      }
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

// Lanes whose access is passed over have memory of their own in place of what is not there: 0 before, and lost after.
// Observers hear of no access.
void Machine::run_dropped(Context& c, MicroOp const& again, Elsewhere const& found) {
  constexpr std::size_t bytes = 64;  // more than a lane accesses at a time
  nowhere_.resize(bytes * max_lanes_per_unit);
  Access& x = *again.access;
  x.window = {0, bytes, nowhere_.data(), 0, bytes, x.space == StateSpace::generic ? StateSpace::global : x.space};
  if (!std::exchange(c.any_dropped, true)) std::fill(std::begin(c.dropped), std::end(c.dropped), 0);
  bool const observed = std::exchange(c.observed, false);
  run_part(c, again, [&](std::uint32_t lane) {
    if (found.spaces[lane] != in_no_space) return false;
    c.dropped[lane / lanes_per_warp] |= 1u << lane % lanes_per_warp;
    std::fill_n(nowhere_.begin() + static_cast<std::ptrdiff_t>(bytes * (c.first_warp * lanes_per_warp + lane)), bytes,
                std::byte{0});
    return true;
  });
  c.observed = observed;
}

// In the shared memory of other groups.
void Machine::run_peers(Context& c, MicroOp const& again, Elsewhere const& found) const {
  bool const observed = std::exchange(c.observed, false);
  for (std::uint32_t rank = 0; rank < cluster_->members.size(); ++rank) {
    if (rank == cluster_rank_) continue;
    again.access->window = cluster_->members[rank]->shared_window_of_group();
    run_part(c, again, [&](std::uint32_t lane) { return found.spaces[lane] == in_peer && found.peers[lane] == rank; });
  }
  c.observed = observed;
}

// One lane or more is outside the window, or misaligned. Finds the memory of each lane; throws for the first that has
// none, or passes it over. Then runs the access again, for all lanes at once if they share a window, else for one space
// after the other.
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
  if (found.some_in_peers) run_peers(c, again, found);
  if (found.some_dropped) run_dropped(c, again, found);
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
