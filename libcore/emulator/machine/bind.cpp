// Fits a program to a launch: byte offsets for slots, values for pins, windows for accesses.
#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "base/diag/diag.hpp"
#include "emulator/machine/machine.hpp"

namespace kernelcast::emu {

namespace {

constexpr std::size_t alignment = 64;

using ptx::Special;
using ptx::StateSpace;

bool of_cluster(Special s) {
  return s >= Special::clusterid_x && s <= Special::is_explicit_cluster;
}
bool per_group(Pin const& pin) {
  if (pin.kind != Pin::Kind::special) return false;
  auto const s = static_cast<Special>(pin.id);
  return s == Special::ctaid_x || s == Special::ctaid_y || s == Special::ctaid_z || of_cluster(s);
}
bool per_lane(Pin const& pin) {
  if (pin.kind != Pin::Kind::special) return false;
  auto const s = static_cast<Special>(pin.id);
  return s == Special::tid_x || s == Special::tid_y || s == Special::tid_z || s == Special::laneid ||
         s == Special::warpid || s == Special::lanemask_eq || s == Special::lanemask_le || s == Special::lanemask_lt ||
         s == Special::lanemask_ge || s == Special::lanemask_gt;
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

}  // namespace

void Machine::Free::operator()(std::byte* p) const {
  ::operator delete[](p, std::align_val_t{alignment});
}

Machine::Machine(Program const& program, Launch const& launch, Memory& memory, std::span<Observer* const> observers,
                 Budget& budget, bool several)
    : program_(program),
      p_(*program.impl_),
      launch_(launch),
      memory_(*memory.impl_),
      device_(memory),
      observers_(observers),
      budget_(budget),
      spent_(budget),
      printed_(budget, launch.print) {
  Packing const side_by_side = packing(program, launch, observers, several);
  group_lanes_ = side_by_side.group_lanes;
  pack_ = side_by_side.groups();
  unit_warps_ = side_by_side.unit_lanes / lanes_per_warp;
  bind();
}

void Machine::bind() {
  threads_ = static_cast<std::uint32_t>(launch_.block.count());
  std::uint32_t const warps = group_lanes_ ? unit_warps_ : (threads_ + lanes_per_warp - 1) / lanes_per_warp;
  std::uint64_t const register_bytes = make_units(warps);
  make_memory(warps, register_bytes);
  place_operands();
  context_.scratch = p_.scratch * 4 * stride_;
  context_.observed = !observers_.empty();
  context_.needs_written = std::ranges::any_of(observers_, [](Observer const* o) { return o->needs_written(); });
  watch_divisors();
  context_.machine = this;
  make_placements();
  context_.spare = placements_.data();
  context_.lanes = lane_masks_.data();
  context_.bits = bits_.data();
  fill_pins();
  bind_accesses();
  address_own_shared();
}

// The group's warps in units, and the bytes of all their registers.
std::uint64_t Machine::make_units(std::uint32_t warps) {
  stride_ = std::min(warps, unit_warps_) * lanes_per_warp;
  std::uint32_t const unit_count = (warps + unit_warps_ - 1) / unit_warps_;
  std::size_t const unit_bytes = std::size_t{4} * stride_ * p_.slots;
  register_file_.reset(static_cast<std::byte*>(::operator new[](unit_bytes * unit_count, std::align_val_t{alignment})));
  std::memset(register_file_.get(), 0, unit_bytes * unit_count);
  units_.resize(unit_count);
  for (std::uint32_t u = 0; u < unit_count; ++u) {
    Unit& unit = units_[u];
    unit.registers = register_file_.get() + unit_bytes * u;
    unit.first_warp = u * unit_warps_;
    unit.warps = std::min(warps - unit.first_warp, unit_warps_);
    for (std::uint32_t w = 0; w < unit.warps && !group_lanes_; ++w) {
      std::uint32_t const rest = threads_ - (unit.first_warp + w) * lanes_per_warp;
      unit.exists[w] = rest >= lanes_per_warp ? ~0u : (1u << rest) - 1;
    }
  }
  return unit_bytes * unit_count;
}

// Shared and local memory, parameters. Throws Error(limit) where these and the registers are more than is allowed.
void Machine::make_memory(std::uint32_t warps, std::uint64_t register_bytes) {
  // A device gives dynamic memory in larger units, and compilers count on it: they read 16 bytes for the last ones. Of
  // a kernel alone it ends where the launch says.
  bool const of_application = memory_.first == reinterpret_cast<std::uintptr_t>(memory_.range);  // Addresses::of_host
  std::uint64_t const unit = of_application ? 16 : 1;
  shared_bytes_ = std::uint64_t{p_.static_shared_bytes} + (launch_.dynamic_shared_bytes + unit - 1) / unit * unit;
  std::uint64_t const shared_step = (shared_bytes_ + 255) / 256 * 256;
  shared_.assign(shared_bytes_ + (pack_ - 1) * shared_step, std::byte{0});
  for (std::uint32_t lane = 0; group_lanes_ && lane < stride_; ++lane)
    shared_bases_[lane] = static_cast<std::uint32_t>(lane / group_lanes_ * shared_step);
  stacks_.fit(warps, p_.local_bytes, p_.stacked ? std::optional<std::uint64_t>(launch_.stack_bytes) : std::nullopt);
  std::uint64_t const most = budget_.max_memory_bytes ? budget_.max_memory_bytes : memory_.limit_bytes;
  std::uint64_t const tensor_bytes = p_.tensor_memory ? sizeof(TensorMemory) : 0;
  std::uint64_t const needed = stacks_.bytes() + shared_.size() + register_bytes + tensor_bytes;
  if (needed > most || stacks_.item_bytes() > 0x7fffffff)
    throw Error(Status::limit,
                "kernel '" + std::string(p_.kernel->name) + "' needs " + std::to_string(needed) +
                    " bytes of shared and local memory and registers for a group; the limit is " + std::to_string(most),
                "raise --max-memory, or lower --stack-bytes");
  max_bytes_ = most;
  bytes_ = needed + p_.ops.size() * sizeof(MicroOp) + p_.accesses.size() * sizeof(Access) +
           std::uint64_t{8} * stride_ * p_.placements + sizeof *this;
  stacks_.allocate();
  if (p_.tensor_memory) tensor_memory_ = std::make_unique<TensorMemory>();
  parameters_ = launch_.parameters;
  module_variables_ = &memory_.variables.at(p_.module);
  body_variables_ = &memory_.variables.at(p_.kernel);
}

// The program's code, with byte offsets for slots.
void Machine::place_operands() {
  auto scale = [&](std::uint32_t& slot) {
    if (slot != no_slot) slot *= 4 * stride_;
  };
  ops_ = p_.ops;
  accesses_ = p_.accesses;
  for (MicroOp& op : ops_) {
    for (std::uint32_t& s : op.s) scale(s);
    for (std::uint32_t& d : op.d) scale(d);
    if (op.operands)
      op.operands = bound_operands_.emplace_back(op.operands, op.operands + op.destinations + op.sources).data();
    if (op.access) op.access = &accesses_[static_cast<std::size_t>(op.access - p_.accesses.data())];
  }
  for (std::vector<std::uint32_t>& list : bound_operands_)
    for (std::uint32_t& s : list) scale(s);
  code_ = p_.code;
  for (BlockCode& code : code_)
    for (std::uint32_t* s : {&code.end.guard, &code.end.index, &code.end.count, &code.end.reduced, &code.end.result})
      scale(*s);
}

void Machine::make_placements() {
  placements_.resize(p_.placements + 1);
  std::size_t const offsets = stride_, steps = std::max(stride_ / lanes_per_chunk, std::uint32_t{16});
  placement_lanes_.reset(static_cast<std::byte*>(
      ::operator new[]((offsets + steps) * sizeof(std::uint32_t) * placements_.size(), std::align_val_t{alignment})));
  auto* lanes = reinterpret_cast<std::uint32_t*>(placement_lanes_.get());
  for (Placement& placement : placements_) {
    placement.offsets = lanes;
    placement.steps = lanes + offsets;
    lanes += offsets + steps;
  }
}

// Small groups that no observer needs one by one run side by side, up to a full unit: an operation costs little more
// for eight warps than for one. Units are as wide as leaves their registers in the host's caches. Groups of
// 16 work-items or fewer share warps of the unit, where none of the kernel's operations looks at a whole warp.
Machine::Packing Machine::packing(Program const& program, Launch const& launch, std::span<Observer* const> observers,
                                  bool several) {
  // Tiny groups gain more from a wide unit than they lose to the second-level cache.
  constexpr std::uint32_t first_cache_bytes = 48 * 1024, second_cache_bytes = 256 * 1024;
  Program::Impl const& p = *program.impl_;
  Packing result;
  std::uint32_t const least = p.packs_within_warps ? min_group_lanes : lanes_per_warp;
  std::uint32_t const lanes = std::max(std::bit_ceil(static_cast<std::uint32_t>(launch.block.count())), least);
  bool possible = several && p.packs;
  for (Observer const* o : observers) possible &= o->accepts_packs();
  if (!possible) return result;
  std::uint32_t const cache_bytes = lanes <= 64 ? second_cache_bytes : first_cache_bytes;
  std::uint32_t wide = default_lanes_per_unit;
  while (wide < max_lanes_per_unit && std::uint64_t{8} * wide * p.slots <= cache_bytes) wide *= 2;
  wide = std::min(wide, max_groups_per_unit * lanes);
  return lanes < wide ? Packing{wide, lanes} : result;
}

Window Machine::shared_window_of_group() const {
  return {0, shared_bytes_,      const_cast<std::byte*>(shared_.data()),       0,
          0, StateSpace::shared, group_lanes_ ? shared_bases_.data() : nullptr};
}

// StateSpace::param for arguments of calls, which lie in frames.
Window Machine::local_window_of_lanes(StateSpace reported_as) const {
  return stacks_.window(reported_as);
}

// Everything that a group finds as it was before any group ran.
void Machine::begin_groups(std::span<std::uint64_t const> linear_groups) {
  // What a kernel reads before writing must not depend on the group that ran before.
  std::fill(shared_.begin(), shared_.end(), std::byte{0});
  begin_stacks();
  begin_tensor_memory();
  barriers_.begin();
  if (!group_lanes_) {
    set_group(linear_groups[0]);
    fill_group_specials();
    for (Observer* o : observers_) o->group_begin(group_);
    return;
  }
  Unit& unit = units_[0];
  unit.exists.fill(0);
  for (std::uint32_t k = 0; k < linear_groups.size(); ++k) {
    packed_groups_[k] = linear_groups[k];
    std::uint32_t const first = group_lanes_ * k;
    for (std::uint32_t done = 0; done < threads_; done += lanes_per_warp) {
      std::uint32_t const rest = threads_ - done;
      std::uint32_t const mask = rest >= lanes_per_warp ? ~0u : (1u << rest) - 1;
      unit.exists[(first + done) / lanes_per_warp] |= mask << first % lanes_per_warp;
    }
    if (k > 0 && linear_groups[k] == linear_groups[k - 1] + 1)
      next_group();
    else
      set_group(linear_groups[k]);
    for (Pin const& pin : p_.pins)
      if (pin.slot != no_slot && per_group(pin)) splat(unit, pin, pin_value(pin), first, group_lanes_);
  }
  for (Observer* o : observers_) o->pack_begin(linear_groups);
}

void Machine::set_group(std::uint64_t linear_group) {
  Dim3 const& g = launch_.grid;
  group_ = linear_group;
  group_id_ = {static_cast<std::uint32_t>(linear_group % g.x), static_cast<std::uint32_t>(linear_group / g.x % g.y),
               static_cast<std::uint32_t>(linear_group / g.x / g.y)};
}

void Machine::next_group() {
  ++group_;
  if (++group_id_.x < launch_.grid.x) return;
  group_id_.x = 0;
  if (++group_id_.y < launch_.grid.y) return;
  group_id_.y = 0;
  ++group_id_.z;
}

void Machine::bind_accesses() {
  for (std::size_t i = 0; i < accesses_.size(); ++i) {
    Access& x = accesses_[i];
    for (std::uint32_t& s : x.slots)
      if (s != no_slot) s *= 4 * stride_;
    x.placement = &placements_[x.placement_index];
    if (x.space == StateSpace::shared) x.window = shared_window_of_group();
    if (x.space == StateSpace::local) x.window = local_window_of_lanes(x.argument ? StateSpace::param : x.space);
    if (x.space == StateSpace::local && p_.stacked) {
      x.window.size = p_.local_bytes;  // the kernel's own frame, where all stacks begin
      if (x.address != Access::Address::indexed) stacks_.follow(&x);
    }
    if (x.space == StateSpace::param) x.window = {0, parameters_.size(), parameters_.data(), 0, 0, x.space};
    if (x.address == Access::Address::indexed) bind_index(x, pin_value(p_.pins[p_.base_pins[i]]));
  }
}

// Of kernels of pairs: shared memory as variables' addresses have it, with the group's own rank.
void Machine::address_own_shared() {
  if (!p_.of_pairs) return;
  for (Access& x : accesses_)
    if (x.space == StateSpace::shared)
      x.window.address = std::uint64_t{cluster_rank_ + cluster_rank_bias} << cluster_rank_shift;
}

// Which indices stay within the window of the base: low .. low + range.
void Machine::bind_index(Access& x, std::uint64_t base) {
  x.uniform_base = base;
  if (x.space == StateSpace::global || x.space == StateSpace::constant) {
    Memory::Buffer const* buffer = device_.find(base);
    if (!buffer) buffer = device_.find(base + x.displacement);
    if (!buffer) return;
    x.window = {buffer->address, buffer->size, buffer->data, buffer->address, 0, x.space};
  }
  if (x.window.size < x.bytes) return;
  x.begin = base + x.displacement - x.window.address;
  auto const begin = static_cast<std::int64_t>(x.begin);
  std::int64_t const scale = x.scale;
  std::int64_t const last = static_cast<std::int64_t>(std::min<std::uint64_t>(x.window.size - x.bytes, 0xffffffff));
  // Far away bases overflow nothing: |begin| is far below 2^62 for a base in a window, others are left to the slow
  // path.
  if (begin > (std::int64_t{1} << 60) || begin < -(std::int64_t{1} << 60)) return;
  std::int64_t low = -floor_divide(begin, scale), high = floor_divide(last - begin, scale);
  low = std::max<std::int64_t>(low, x.index_signed ? -0x80000000ll : 0);
  high = std::min<std::int64_t>(high, x.index_signed ? 0x7fffffffll : 0xffffffffll);
  if (low > high) return;
  x.low = static_cast<std::uint32_t>(low);
  x.range = static_cast<std::uint32_t>(high - low);
  x.first_offset = static_cast<std::uint32_t>(begin + low * scale);
  x.reachable = true;
}

// Without clusters every group is a cluster of its own.
std::uint64_t Machine::cluster_value(Special s) const {
  Dim3 const size = cluster_ ? cluster_->size : Dim3{};
  auto const dim = [&](Dim3 const& d, Special x) -> std::uint64_t {
    int const component = static_cast<int>(s) - static_cast<int>(x);
    return component == 0 ? d.x : component == 1 ? d.y : d.z;
  };
  if (s <= Special::clusterid_z)
    return dim({group_id_.x / size.x, group_id_.y / size.y, group_id_.z / size.z}, Special::clusterid_x);
  if (s <= Special::nclusterid_z)
    return dim({launch_.grid.x / size.x, launch_.grid.y / size.y, launch_.grid.z / size.z}, Special::nclusterid_x);
  if (s <= Special::cluster_ctaid_z)
    return dim({group_id_.x % size.x, group_id_.y % size.y, group_id_.z % size.z}, Special::cluster_ctaid_x);
  if (s <= Special::cluster_nctaid_z) return dim(size, Special::cluster_nctaid_x);
  if (s == Special::cluster_ctarank) return cluster_rank_;
  return s == Special::cluster_nctarank ? size.count() : cluster_ != nullptr;
}

std::uint64_t Machine::pin_value(Pin const& pin) const {
  switch (pin.kind) {
    case Pin::Kind::immediate:
      return pin.value;
    case Pin::Kind::parameter: {
      std::uint64_t bits = 0;
      std::memcpy(&bits, parameters_.data() + pin.value, pin.bytes);
      if (pin.sign_extended && pin.bytes < 8) {
        unsigned const unused = 64 - 8 * pin.bytes;
        bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
      }
      return bits;
    }
    case Pin::Kind::variable: {
      std::size_t const of_module = p_.module->variables.size();
      std::uint64_t const address =
          pin.id < of_module ? (*module_variables_)[pin.id] : (*body_variables_)[pin.id - of_module];
      return address + pin.value;
    }
    case Pin::Kind::frame:
      return 0;
    case Pin::Kind::special:
      break;
  }
  auto const dim = [&](Dim3 const& d, Special x) -> std::uint64_t {
    int const component = static_cast<int>(pin.id) - static_cast<int>(x);
    return component == 0 ? d.x : component == 1 ? d.y : d.z;
  };
  auto const s = static_cast<Special>(pin.id);
  if (of_cluster(s)) return cluster_value(s);
  switch (s) {
    case Special::ntid_x:
    case Special::ntid_y:
    case Special::ntid_z:
      return dim(launch_.block, Special::ntid_x);
    case Special::nctaid_x:
    case Special::nctaid_y:
    case Special::nctaid_z:
      return dim(launch_.grid, Special::nctaid_x);
    case Special::ctaid_x:
    case Special::ctaid_y:
    case Special::ctaid_z:
      return dim(group_id_, Special::ctaid_x);
    case Special::nsmid:
      return 1;
    case Special::nwarpid:
      return (threads_ + lanes_per_warp - 1) / lanes_per_warp;
    case Special::dynamic_smem_size:
      return launch_.dynamic_shared_bytes;
    case Special::total_smem_size:
      return shared_bytes_;
    case Special::envreg:
      return pin.value < 32 ? launch_.envreg[pin.value] : 0;
    default:
      return 0;
  }
}

void Machine::splat(Unit& unit, Pin const& pin, std::uint64_t value, std::uint32_t first, std::uint32_t lanes) {
  std::byte* at = unit.registers + std::size_t{4} * stride_ * pin.slot;
  if (pin.wide)
    std::fill_n(reinterpret_cast<std::uint64_t*>(at) + first, lanes, value);
  else
    std::fill_n(reinterpret_cast<std::uint32_t*>(at) + first, lanes, static_cast<std::uint32_t>(value));
}

void Machine::fill_pins() {
  for (Pin const& pin : p_.pins) {
    if (pin.slot == no_slot || per_group(pin)) continue;
    for (Unit& unit : units_) {
      if (per_lane(pin))
        fill_special(unit, pin);
      else
        splat(unit, pin, pin_value(pin), 0, stride_);
    }
  }
}

void Machine::fill_group_specials() {
  for (Pin const& pin : p_.pins)
    if (pin.slot != no_slot && per_group(pin))
      for (Unit& unit : units_) splat(unit, pin, pin_value(pin), 0, stride_);
}

void Machine::fill_special(Unit& unit, Pin const& pin) {
  auto* lanes = reinterpret_cast<std::uint32_t*>(unit.registers + std::size_t{4} * stride_ * pin.slot);
  Dim3 const& b = launch_.block;
  for (std::uint32_t i = 0; i < stride_; ++i) {
    std::uint32_t const within = group_lanes_ ? i % group_lanes_ : i;
    std::uint32_t const thread = unit.first_warp * lanes_per_warp + within, lane = i % lanes_per_warp;
    std::uint32_t value = 0;
    switch (static_cast<Special>(pin.id)) {
      case Special::tid_x:
        value = thread % b.x;
        break;
      case Special::tid_y:
        value = thread / b.x % b.y;
        break;
      case Special::tid_z:
        value = thread / b.x / b.y;
        break;
      case Special::laneid:
        value = lane;
        break;
      case Special::warpid:
        value = thread / lanes_per_warp;
        break;
      case Special::lanemask_eq:
        value = 1u << lane;
        break;
      case Special::lanemask_lt:
        value = (1u << lane) - 1;
        break;
      case Special::lanemask_le:
        value = (2u << lane) - 1;
        break;
      case Special::lanemask_gt:
        value = ~((2u << lane) - 1);
        break;
      case Special::lanemask_ge:
        value = ~((1u << lane) - 1);
        break;
      default:
        break;
    }
    lanes[i] = value;
  }
}

void Memory::forget(Program const& program) {
  auto& variables = impl_->variables;
  for (void const* const owner :
       {static_cast<void const*>(&program.module()), static_cast<void const*>(&program.kernel())}) {
    auto const at = variables.find(owner);
    if (at == variables.end()) continue;
    for (auto const address : at->second)
      if (address != 0) impl_->images->remove_variable(address), remove(address);
    variables.erase(at);
  }
}

// Buffers for .global and .const variables, filled from their initialisers; made once per Memory, so that values
// persist from launch to launch.
void Memory::Impl::place_variables(Memory& memory, ptx::Module const& module, void const* owner,
                                   std::vector<ptx::Variable> const& of_owner) {
  if (variables.contains(owner)) return;
  std::vector<std::uint64_t> addresses(of_owner.size(), 0);
  for (std::size_t i = 0; i < of_owner.size(); ++i)
    if ((of_owner[i].space == StateSpace::global || of_owner[i].space == StateSpace::constant) && of_owner[i].size != 0)
      addresses[i] = memory.add(std::string(of_owner[i].name), of_owner[i].size);
  auto& placed = variables[owner] = std::move(addresses);
  auto const& of_module = variables.at(&module);
  for (std::size_t i = 0; i < of_owner.size(); ++i) {
    if (placed[i] == 0) continue;
    if (of_owner[i].type >= ptx::Type::texref) images->place_variable(placed[i], module, of_owner[i]);
    for (ptx::Initializer const& init : of_owner[i].initializers) {
      std::uint64_t bits = init.value.value;
      if (init.value.kind == ptx::Operand::Kind::function)
        bits += code_address(ptx::without_alias(module, init.value.id));
      if (init.value.kind == ptx::Operand::Kind::variable)
        bits += (init.value.local ? placed : of_module)[init.value.id];
      if (init.mask_shift) bits = bits >> *init.mask_shift & 0xff;
      if (init.offset + init.bytes <= of_owner[i].size)
        std::memcpy(memory.bytes(placed[i]).data() + init.offset, &bits, init.bytes);
    }
  }
}

std::uint64_t Memory::address_of(ptx::Module const& module, std::string_view variable) {
  impl_->place_variables(*this, module, &module, module.variables);
  auto const& placed = impl_->variables.at(&module);
  for (std::size_t i = 0; i < placed.size(); ++i)
    if (module.variables[i].name == variable) return placed[i];
  return 0;
}

void Machine::prepare(Program const& whole, Memory& memory) {
  Program::Impl const& program = *whole.impl_;
  Memory::Impl& inside = *memory.impl_;
  inside.place_variables(memory, *program.module, program.module, program.module->variables);
  inside.place_variables(memory, *program.module, program.kernel, program.kernel->variables);
  // References that are structures: their first word is the texture object.
  for (auto const& [name, handle] : inside.images->bindings())
    for (std::size_t i = 0; i < program.module->variables.size(); ++i) {
      ptx::Variable const& v = program.module->variables[i];
      std::uint64_t const address = inside.variables.at(program.module)[i];
      if (v.name == name && v.type < ptx::Type::texref && address != 0 && v.size >= sizeof handle)
        std::memcpy(memory.bytes(address).data(), &handle, sizeof handle);
    }
}

}  // namespace kernelcast::emu
