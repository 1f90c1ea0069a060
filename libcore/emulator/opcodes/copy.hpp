// The operation of an asynchronous copy or an mbarrier instruction, as the decoder leaves it in MicroOp::data. Internal
// to emu; plain data only, as lane.hpp.
#pragma once

#include "emulator/opcodes/lane.hpp"
#include "emulator/tensor_map.hpp"

namespace kernelcast::emu {

// An address: its register is a source of the instruction.
struct CopyAddress {
  bool wide = true;
  std::uint8_t source = 0;
  std::uint64_t displacement = 0;
};

// cp.async; accesses: the load, then the store.
struct AsyncCopy {
  static constexpr std::uint8_t nothing = 0xff;
  CopyAddress to, from;
  std::uint8_t bytes = 16;
  std::uint8_t size = nothing;    // source: how many bytes to read, the rest is 0
  std::uint8_t ignore = nothing;  // source: a predicate, read nothing
};

// cp.async.bulk, cp.reduce.async.bulk; accesses: the load, the store or reduction, the mbarrier.
struct BulkCopy {
  static constexpr std::uint8_t nothing = 0xff;
  enum class Reduction : std::uint8_t {
    none,
    add,
    minimum,
    maximum,
    increment,
    decrement,
    conjunction,
    disjunction,
    exclusive
  };
  CopyAddress to, from, barrier;
  bool signals = false;   // completes transactions of the mbarrier
  std::uint8_t size = 0;  // source
  bool to_global = false;
  std::uint8_t byte_mask = nothing;   // source: which bytes of 16 are copied
  std::uint8_t group_mask = nothing;  // source: .multicast::cluster; then that of the group's rank
  Reduction reduction = Reduction::none;
  ptx::Type type = ptx::Type::none;  // of a reduction
};

// st.bulk: zeros in shared memory; one access.
struct BulkFill {
  CopyAddress to;
  std::uint8_t size = 0;  // source
  bool wide_size = false;
};

// st.async, red.async: values to the shared memory of a group of the cluster, whose mbarrier
// hears of their bytes; accesses: the store or reduction, the mbarrier.
struct AsyncStore {
  CopyAddress to, barrier;
  std::uint8_t values = 0, count = 1;  // sources, one after the other
  std::uint8_t element_bytes = 4;
  BulkCopy::Reduction reduction = BulkCopy::Reduction::none;
  ptx::Type type = ptx::Type::none;  // of a reduction
};

BulkCopy::Reduction reduction_named(std::string_view);  // none where it is none

// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor: a box of a tensor that a tensor map describes; accesses: the map,
// global memory, shared memory, the mbarrier.
struct TensorCopy {
  static constexpr std::uint8_t nothing = 0xff;
  static constexpr std::uint8_t rows = 4;  // of a tile whose rows have coordinates of their own
  CopyAddress map, shared, barrier;
  bool loads = true;  // from global to shared memory
  bool signals = false;
  std::uint8_t rank = 1;
  TensorMap::Mode mode = TensorMap::Mode::tile;
  bool by_rows = false;               // .tile::gather4, .tile::scatter4: the first coordinate, then that of each row
  std::uint8_t offsets = nothing;     // of im2col: sources, one after the other; of im2col::w: halo, offset
  std::uint8_t coordinates = 0;       // sources, one after the other
  std::uint8_t group_mask = nothing;  // source: .multicast::cluster; then that of the group's rank
  bool pair = false;                  // .cta_group::2: of each pair the group signals that the mbarrier's address names
  BulkCopy::Reduction reduction = BulkCopy::Reduction::none;
};

// tensormap.replace: bytes of a tensor map; one access.
struct TensorMapField {
  CopyAddress map;
  std::uint8_t value = 0;  // source
  std::uint8_t offset = 0, bytes = 4;
};

// tensormap.cp_fenceproxy: the first lane of a warp copies a tensor map; accesses: the load, the store.
struct TensorMapCopy {
  CopyAddress to, from;
};

// mbarrier.*, cp.async.mbarrier.arrive; one access.
struct BarrierOperation {
  static constexpr std::uint8_t nothing = 0xff;
  enum class Kind : std::uint8_t {
    init,
    invalidate,
    arrive,
    arrive_drop,
    expect,
    complete,
    test,  // of the phase that a state names
    test_parity,
    async_arrive,  // what cp.async.mbarrier.arrive comes to: copies are done when they are issued
    pending_count  // of a state; no memory
  };
  Kind kind = Kind::arrive;
  CopyAddress object;
  std::uint8_t value = nothing;  // source: count, transactions, state or parity
  bool expects = false;          // .expect_tx: the value counts transactions, the arrivals are 1
  bool increments = false;       // async_arrive without .noinc
};

// The mbarrier object `word` is valid and in the phase of this parity: that phase is not complete. See
// barrier_object.hpp.
constexpr bool is_in_phase(std::uint64_t word, std::uint32_t parity) {
  return word >> 62 == 2 && (word >> 61 & 1) == parity;
}

// clusterlaunchcontrol.try_cancel; accesses: the answer, the mbarrier.
struct LaunchQuery {
  static constexpr std::uint8_t nothing = 0xff;
  CopyAddress answer, barrier;
  std::uint8_t ranks = nothing;  // source: the groups of the cluster, which all get the answer; then the own rank
};

// Observers hear that lanes found a phase complete; machine/asynchronous.cpp.
void notify_phase(Context&, std::uint32_t const* bits);
// An mbarrier object, and the parity of its phase that is not complete.
struct Phase {
  std::byte const* object = nullptr;
  std::uint32_t parity = 0;
};
inline constexpr std::uint32_t max_phases = 4;  // that lanes wait for together
// All lanes that execute have found one of these phases incomplete.
void wait_for_phases(Context&, Phase const*, std::uint32_t count);

}  // namespace kernelcast::emu
