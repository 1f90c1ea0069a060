// The mbarrier object: 8 bytes of shared memory. [ptx] "Contents of the mbarrier object". Compiled once per
// instruction-set level.
//
// From the low bits up: pending arrivals (20 bits), expected arrivals (20), transactions (21, signed), the phase's
// parity (1), and 2 bits that are 2 in a valid object. A state, as mbarrier.arrive returns it, has the pending arrivals
// before the arrival (20 bits) and the parity in bit 32.
#pragma once

#include "emulator/opcodes/arithmetic.hpp"
#include "emulator/opcodes/matrix.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

struct BarrierObject {
  s64 pending = 0, expected = 0, transactions = 0;  // wider than needed: what leaves their range is found
  u32 parity = 0;
  bool valid = false;
};
constexpr s64 max_arrivals = (1 << 20) - 1;

BarrierObject unpack_barrier(u64 word) {
  BarrierObject b;
  b.pending = static_cast<s64>(word & 0xfffff);
  b.expected = static_cast<s64>(word >> 20 & 0xfffff);
  b.transactions = static_cast<s32>(static_cast<u32>(word >> 40) << 11) >> 11;
  b.parity = static_cast<u32>(word >> 61 & 1);
  b.valid = word >> 62 == 2;
  return b;
}
u64 pack_barrier(BarrierObject const& b) {
  return static_cast<u64>(b.pending) | static_cast<u64>(b.expected) << 20 |
         (static_cast<u64>(b.transactions) & 0x1fffff) << 40 | u64{b.parity} << 61 | u64{b.valid ? 2u : 0u} << 62;
}

[[maybe_unused]] u64 state_of(BarrierObject const& b) {
  return static_cast<u64>(b.pending) | u64{b.parity} << 32;
}

// Changes a valid object; a phase that is complete gives way to the next. What PTX leaves undefined is a finding.
template <class Change>
void change_barrier(Context& c, MicroOp const& op, std::byte* host, u32 lane, Change change) {
  u64 word;
  std::memcpy(&word, host, sizeof word);
  BarrierObject b = unpack_barrier(word);
  if (!b.valid) stop_at_lane(c, op, Finding::Kind::uninitialized, lane, "works on an mbarrier that is not initialised");
  change(b);
  if (b.pending < 0 || b.expected < 0)
    stop_at_lane(c, op, Finding::Kind::trap, lane, "more arrivals than the mbarrier expects");
  if (b.pending > max_arrivals || b.transactions > max_arrivals || b.transactions < -max_arrivals)
    stop_at_lane(c, op, Finding::Kind::trap, lane, "a count of the mbarrier exceeds 1048575");
  if (b.pending == 0 && b.transactions == 0) {
    b.parity ^= 1;
    b.pending = b.expected;
  }
  u64 const changed = pack_barrier(b);
  if (changed != word) c.failed_tests = 0;
  std::memcpy(host, &changed, sizeof changed);
}

}  // namespace
}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
