// One memory instruction's counts, with a memory of the patterns it has already met.
//
// Problem: an instruction repeats the same pattern of offsets with another base thousands of times; counting it anew
// each time would cost more than executing it.
// Method: the counts depend only on the pattern (offsets relative to the first active lane, and the mask) and on the
// phase (first address modulo 256 bytes). A memo keeps one pattern and the counts of each phase met; a repetition is
// one comparison of 64 offsets and one increment. A site keeps up to twelve memos per 64 lanes, for loops that go
// through a cycle of patterns (a reduction's halves): the memo after the last one used is tried first. After many
// patterns in a row that never came back the memos step aside for 64 accesses.
// Limits: one site belongs to one instruction, one state space, one direction.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/emu.hpp"
#include "emulator/observe/footprint.hpp"
#include "emulator/observe/transactions.hpp"

namespace kernelcast::emu {

// Global: tx[w][s] in 0..8, cc13[s] in 9..11. Shared: passes[w][banks] in 0..8.
inline constexpr std::size_t counts_per_access = 12;
using AccessCounts = std::array<std::uint16_t, counts_per_access>;
using AccessTotals = std::array<std::uint64_t, counts_per_access>;

class PatternMemo {
 public:
  static constexpr std::size_t slots = 64;
  static std::size_t slot_of(unsigned phase) { return phase >> 2 & (slots - 1); }

  alignas(64) std::array<std::uint32_t, 64> delta{};  // relative to the first active lane; 0 where inactive
  std::array<std::uint32_t, 64> care{};               // all ones where active
  std::uint64_t mask = 0;                             // 0: nothing remembered

  using Weights = std::array<std::uint8_t, 16>;  // of each of the groups that share the 64 lanes
  struct Phase {
    AccessCounts counts{};
    Weights weights{};
    std::uint64_t hits = 0;
  };
  struct Key {
    std::uint16_t weight = 0;
    std::uint8_t phase = 0;
    std::uint8_t sectors = unknown;  // index into sector_lists
    std::uint8_t entry = 0;          // index into phases
  };
  static constexpr std::uint8_t unknown = 0xff;
  std::array<Key, slots> keys{};
  std::vector<Phase> phases;  // those met: few, as a rule
  std::vector<std::vector<SectorRun>> sector_lists;
  std::uint64_t marked_sector = ~std::uint64_t{0};  // the last access marked these sectors already
  std::uint8_t marked_list = unknown;

  // Two lanes' offsets tell most patterns apart: the last active lane's, and lane 1's (0 where inactive).
  std::uint32_t last_lane = 0;
  bool resembles(std::uint64_t wanted, std::uint32_t const* offsets, std::uint32_t first) const {
    return mask == wanted && offsets[last_lane] - first == delta[last_lane] &&
           (((offsets[1] - first) ^ delta[1]) & care[1]) == 0;
  }

  void mark(std::uint8_t list, std::uint64_t sector, Footprint&);
  void add_to(AccessTotals&) const;
  bool forget(AccessTotals&);  // adds what was counted, then empties the memo; had the pattern come back?
};

// The memos of one site for one chunk of 64 lanes.
struct PatternMemos {
  static constexpr std::size_t most = 12;
  static constexpr unsigned max_fruitless = 24;  // patterns without a repetition before the memos are bypassed
  std::vector<std::unique_ptr<PatternMemo>> all;
  std::size_t current = 0;  // the one used last
  std::size_t victim = 0;   // the next to forget when there are `most`
  unsigned fruitless = 0;   // patterns in a row that never came back
  unsigned aside = 0;       // accesses to let pass
};

class AccessSite {
 public:
  explicit AccessSite(MemoryAccess const& first)
      : space(first.space), direction(first.direction), bytes(first.bytes_per_lane) {}

  ptx::StateSpace space;
  Direction direction;
  unsigned bytes;
  std::uint64_t lanes = 0;
  AccessTotals totals{};
  // [64-lane chunk of the unit; warp where groups have one], modulo the size: in wide units groups repeat
  std::array<PatternMemos, default_lanes_per_unit / lanes_per_warp> memos;
  // Running total of one of the counts (global: w32, s32; shared: w32, 32 banks), for the spread between groups; one
  // for each of the groups that run side by side.
  std::array<std::uint64_t, max_groups_per_unit> running{};

  // A phase of the memo's pattern that it does not hold, with its counts; `weight` names the one that `running`
  // follows.
  void record_phase(PatternMemo&, WaveAccess const&, AccessCounts const&, std::size_t weight, Footprint*);
  // A pattern that no memo holds. The memo that holds it now, or null if none does.
  PatternMemo* record_pattern(PatternMemos&, WaveAccess const&, AccessCounts const&, std::size_t weight, Footprint*);

  AccessTotals all() const;  // with what the memos hold
};

}  // namespace kernelcast::emu
