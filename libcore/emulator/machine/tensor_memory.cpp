// What tcgen05 needs of the machine: tensor memory of the group and of the other one of its pair, its allocation, and
// the findings about both.
#include <algorithm>
#include <bit>
#include <string>

#include "emulator/machine/machine.hpp"
#include "emulator/opcodes/tensor_memory.hpp"

namespace kernelcast::emu {

namespace {

std::string columns_text(std::uint32_t first, std::uint32_t count) {
  return "columns " + std::to_string(first) + " to " + std::to_string(first + count - 1) + " of tensor memory";
}
std::uint32_t units_mask(std::uint32_t first, std::uint32_t count) {
  return ((1u << count) - 1) << first;
}

}  // namespace

std::uint32_t tensor_homes(Context& c, bool pair, TensorHome* homes, std::uint32_t& own) {
  return static_cast<Machine*>(c.machine)->tensor_homes(pair, homes, own);
}
std::uint32_t allocate_columns(Context& c, MicroOp const& op, std::uint32_t lane, bool pair, std::uint32_t columns) {
  return static_cast<Machine*>(c.machine)->allocate_columns(c, op, lane, pair, columns);
}
void release_columns(Context& c, MicroOp const& op, std::uint32_t lane, std::uint32_t address, std::uint32_t columns) {
  static_cast<Machine*>(c.machine)->release_columns(c, op, lane, address, columns);
}
void notify_product(Context& c, MicroOp const& op, std::uint32_t lane, bool pair, char const* kind, double flop) {
  static_cast<Machine*>(c.machine)->notify_product(op, lane, pair, kind, flop);
}

bool has_columns(Context& c, MicroOp const& op, std::uint32_t lane, TensorMemory const& memory,
                 std::uint32_t first_lane, std::uint32_t lanes, std::uint32_t first_column, std::uint32_t columns) {
  constexpr std::uint32_t unit = TensorMemory::unit_columns;
  bool const exists = first_lane + lanes <= TensorMemory::lanes && first_column + columns <= TensorMemory::columns;
  if (exists) {
    std::uint32_t const first = first_column / unit, last = (first_column + columns - 1) / unit;
    std::uint32_t const needed = units_mask(first, last - first + 1);
    if ((memory.allocated & needed) == needed) return true;
  }
  std::string const text = "accesses lanes " + std::to_string(first_lane) + " to " +
                           std::to_string(first_lane + lanes - 1) + " of " + columns_text(first_column, columns) +
                           (exists ? ", which are not all allocated" : ", which do not all exist");
  pass_over_lane(c, op, Finding::Kind::out_of_bounds, lane, text.c_str());
  return false;
}

bool access_columns(Context& c, MicroOp const& op, std::uint32_t lane, TensorMemory const& memory, Direction direction,
                    std::uint32_t first_lane, std::uint32_t lanes, std::uint32_t first_column, std::uint32_t columns,
                    std::uint32_t run) {
  if (!has_columns(c, op, lane, memory, first_lane, lanes, first_column, columns)) return false;
  if (c.observed)
    static_cast<Machine*>(c.machine)->notify_columns(
        memory,
        {op.instruction, c.first_warp * lanes_per_warp + lane, direction, first_lane, lanes, first_column, columns},
        run);
  return true;
}

void require_written(Context& c, MicroOp const& op, std::uint32_t lane, TensorMemory const& memory,
                     std::uint32_t first_lane, std::uint32_t lanes, std::uint32_t column, bool all) {
  constexpr std::uint32_t quarter = TensorMemory::quarter_lanes;
  std::uint32_t const wanted = ~0u >> (quarter - lanes) << first_lane % quarter;
  std::uint32_t const written = memory.written[column][first_lane / quarter] & wanted;
  if (all ? written == wanted : written != 0) return;
  std::uint32_t const missing = static_cast<std::uint32_t>(std::countr_zero(wanted & ~written));
  std::string const text = "reads tensor memory that was never written: lane " +
                           std::to_string(first_lane / quarter * quarter + missing) + ", column " +
                           std::to_string(column);
  pass_over_lane(c, op, Finding::Kind::uninitialized, lane, text.c_str());
}

std::uint32_t Machine::tensor_homes(bool pair, TensorHome* homes, std::uint32_t& own) {
  auto const home = [](Machine& m) { return TensorHome{m.tensor_memory_.get(), m.shared_.data(), m.shared_bytes_}; };
  own = 0;
  if (!pair) {
    homes[0] = home(*this);
    return 1;
  }
  if (!cluster_ || cluster_->members.size() % 2 != 0) return 0;
  own = cluster_rank_ % 2;
  for (std::uint32_t k = 0; k < 2; ++k) homes[k] = home(*cluster_->members[cluster_rank_ - own + k]);
  return 2;
}

namespace {

void take_units(TensorMemory& memory, std::uint32_t first, std::uint32_t count) {
  constexpr std::uint32_t unit = TensorMemory::unit_columns;
  memory.allocated |= units_mask(first, count);
  memory.begins[first] = static_cast<std::uint8_t>(count);
  std::fill_n(memory.cells[first * unit], std::size_t{count} * unit * TensorMemory::lanes, 0u);
  std::fill_n(memory.written[first * unit], std::size_t{count} * unit * TensorMemory::quarters, 0u);
}

// The first unit of what the other group of the pair has allocated.
std::uint32_t take_promise(TensorMemory& memory) {
  std::uint32_t const first = memory.promised[0];
  std::copy(memory.promised + 1, memory.promised + memory.promises, memory.promised);
  --memory.promises;
  return first;
}

}  // namespace

// The first free columns that suffice, of a pair in both groups.
std::uint32_t Machine::allocate_columns(Context const& c, MicroOp const& op, std::uint32_t lane, bool pair,
                                        std::uint32_t columns) {
  constexpr std::uint32_t unit = TensorMemory::unit_columns;
  TensorMemory& memory = *tensor_memory_;
  if (columns < unit || columns > TensorMemory::columns || !std::has_single_bit(columns)) {
    std::string const text =
        "allocates " + std::to_string(columns) + " columns of tensor memory: it must be a power of two from 32 to 512";
    stop_at_lane(c, op, Finding::Kind::trap, lane, text.c_str());
  }
  if (memory.relinquished)
    stop_at_lane(c, op, Finding::Kind::trap, lane,
                 "allocates tensor memory after the group has relinquished the permit to do so");
  if (memory.permits == TensorMemory::Permit::none)
    memory.permits = pair ? TensorMemory::Permit::pair : TensorMemory::Permit::alone;
  if ((memory.permits == TensorMemory::Permit::pair) != pair)
    stop_at_lane(c, op, Finding::Kind::trap, lane,
                 "all allocations of tensor memory of a kernel must have the same .cta_group");
  std::uint32_t const count = columns / unit;
  if (memory.promises != 0) {
    std::uint32_t const first = take_promise(memory);
    if (memory.begins[first] != count)
      stop_at_lane(c, op, Finding::Kind::trap, lane,
                   "allocates another number of columns of tensor memory than the other group of its pair");
    return first * unit;
  }
  TensorHome homes[2];
  std::uint32_t own = 0;
  TensorMemory* const other = tensor_homes(pair, homes, own) == 2 ? homes[1 - own].memory : nullptr;
  std::uint32_t const used = memory.allocated | (other ? other->allocated : 0);
  for (std::uint32_t first = 0; first + count <= TensorMemory::units; ++first) {
    if (used & units_mask(first, count)) continue;
    take_units(memory, first, count);
    if (other) {
      take_units(*other, first, count);
      other->promised[other->promises++] = static_cast<std::uint8_t>(first);
    }
    return first * unit;
  }
  std::string const text = "waits for ever for " + std::to_string(columns) +
                           " neighbouring columns of tensor memory: the group itself holds " +
                           std::to_string(static_cast<std::uint32_t>(std::popcount(memory.allocated)) * unit) +
                           " of 512";
  stop_at_lane(c, op, Finding::Kind::deadlock, lane, text.c_str());
}

void Machine::release_columns(Context const& c, MicroOp const& op, std::uint32_t lane, std::uint32_t address,
                              std::uint32_t columns) {
  constexpr std::uint32_t unit = TensorMemory::unit_columns;
  TensorMemory& memory = *tensor_memory_;
  std::uint32_t const first = address / unit;
  bool const begins = address % unit == 0 && first < TensorMemory::units && memory.begins[first] != 0;
  if (begins && memory.begins[first] * unit == columns) {
    memory.allocated &= ~units_mask(first, memory.begins[first]);
    memory.begins[first] = 0;
    return;
  }
  std::string const text = "frees " + std::to_string(columns) + " columns of tensor memory at address " +
                           std::to_string(address) + ", where " +
                           (begins ? std::to_string(memory.begins[first] * unit) + " are allocated"
                                   : "no allocation begins, or it has been freed");
  pass_over_lane(c, op, Finding::Kind::invalid_free, lane, text.c_str());
}

void Machine::begin_tensor_memory() {
  if (!tensor_memory_) return;
  tensor_memory_->allocated = 0;
  std::ranges::fill(tensor_memory_->begins, std::uint8_t{0});
  tensor_memory_->relinquished = false;
  tensor_memory_->promises = 0;
  tensor_memory_->permits = TensorMemory::Permit::none;
}

// [ptx] "tcgen05.alloc": what a kernel allocates it must free before it ends.
void Machine::end_tensor_memory() const {
  if (!tensor_memory_ || tensor_memory_->allocated == 0) return;
  std::uint32_t const columns =
      static_cast<std::uint32_t>(std::popcount(tensor_memory_->allocated)) * TensorMemory::unit_columns;
  pass_over(Finding::Kind::invalid_free, p_.tensor_allocation, 0, [&] {
    return "the group ends with " + std::to_string(columns) + " columns of tensor memory that it has not freed";
  });
}

void Machine::notify_columns(TensorMemory const& memory, TensorMemoryAccess access, std::uint32_t run) const {
  if (&memory != tensor_memory_.get()) return;  // of another group
  std::uint32_t const end = access.first_lane + access.lanes;
  if (run != TensorMemory::quarter_lanes) access.lanes = run;
  for (; access.first_lane < end; access.first_lane += TensorMemory::quarter_lanes) {
    for (Observer* o : observers_) o->tensor_memory(access);
    if (run == TensorMemory::quarter_lanes) break;
  }
}

void Machine::notify_product(MicroOp const& op, std::uint32_t lane, bool pair, char const* kind, double flop) const {
  std::uint32_t const first = pair ? cluster_rank_ / 2 * 2 : 0, count = pair ? 2 : 1;
  for (std::uint32_t k = first; k < first + count; ++k)
    for (Observer* o : pair ? cluster_->members[k]->observers_ : observers_)
      o->product(op.instruction, lane, kind, flop / count);
}

}  // namespace kernelcast::emu
