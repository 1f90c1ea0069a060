// Shadow memory of the race check: for every cell of memory (as large as the smallest access so far, 16 bytes at most)
// the last write and the last read.
//
// A record is one 64-bit number: time, instruction and work-item of the latest access; and instruction and work-item of
// the latest one by another work-item at nearly the same time, if any. Two different readers are enough: any writer
// conflicts with one of them. Accesses that only barriers order are recorded by loops that vectorise, compiled once per
// instruction-set level.
#pragma once

#include <cstddef>
#include <cstdint>

#ifndef KERNELCAST_EMU_ISA
#define KERNELCAST_EMU_ISA base
#endif

namespace kernelcast::emu {

// From the top: 25 bits time, 9 site, 9 other site, 10 other work-item, 10 work-item.
using Record = std::uint64_t;
inline constexpr unsigned time_shift = 38, site_shift = 29, other_site_shift = 20, other_shift = 10;
inline constexpr std::uint32_t max_time = (1u << 25) - 1;
inline constexpr std::uint64_t item_mask = 1023, site_mask = 511;

constexpr std::uint32_t time_of(Record r) {
  return static_cast<std::uint32_t>(r >> time_shift);
}
constexpr std::uint32_t item_of(Record r) {
  return static_cast<std::uint32_t>(r & item_mask);
}
constexpr std::uint32_t other_of(Record r) {
  return static_cast<std::uint32_t>(r >> other_shift & item_mask);
}
constexpr std::uint32_t site_of(Record r) {
  return static_cast<std::uint32_t>(r >> site_shift & site_mask);
}
constexpr std::uint32_t other_site_of(Record r) {
  return static_cast<std::uint32_t>(r >> other_site_shift & site_mask);
}

// Records have a bit to spare: signed comparisons are quicker where vectors know no others.
constexpr bool earlier(Record a, Record b) {
  return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
}
static_assert(Record{max_time} << time_shift >> 63 == 0);

// What a record is compared with; times are shifted to their place.
struct Bounds {
  Record launch = 0;          // earlier: an earlier launch's, ordered before everything
  Record group = 0;           // earlier: another group's, not ordered
  Record floor = 0;           // earlier: ordered by a barrier
  Record read_floor = floor;  // the same for a read before a write

  constexpr Bounds of_reads() const { return {launch, group, read_floor}; }
};

// Neighbouring cells, accessed in turn by neighbouring work-items.
struct Run {
  Record stamp = 0;  // time and both sites
  std::uint32_t item = 0;
  std::uint32_t cells = 0;
  unsigned cells_per_item_log2 = 0;
  bool settles = false;  // settled() records may stay
  Bounds bounds;
};

// Accesses of up to 16 work-items that lie anywhere; each takes part whose bit is set.
struct Spread {
  Record stamp = 0;  // time and both sites
  std::uint32_t item = 0, mask = 0;
  std::uint64_t base = 0;
  std::uint32_t const* offsets = nullptr;  // [16], bytes after base
  unsigned cell_shift = 2;
  unsigned cells_per_item_log2 = 0;  // 0 ... 2
  Bounds bounds;
};

// The record after a read by `item`: the latest two readers.
constexpr Record after_read(Record r, Record stamp, Record item, Bounds const& b) {
  Record const mine = stamp | item << other_shift | item;
  constexpr Record others = (Record{1} << site_shift) - (Record{1} << other_shift);
  constexpr Record latest = ((site_mask << site_shift) | item_mask);
  Record const kept = (r & item_mask) == item ? r & others : (r & site_mask << site_shift) >> 9 | (r & item_mask) << 10;
  static_assert(site_shift - other_site_shift == 9 && other_shift == 10 && (latest & others) == 0);
  Record const shared = (mine & ~others) | kept;
  bool const foreign =
      !earlier(r, b.launch) && earlier(r, b.group);  // another group's read stands against all later writers
  return foreign ? r : earlier(r, b.floor) ? mine : shared;
}
// Might a record stand against an access by `item`?
constexpr bool stands_against(Record r, Record item, Bounds const& b) {
  bool const foreign = !earlier(r, b.launch) && earlier(r, b.group);
  bool const fresh = !earlier(r, b.floor) && ((r & item_mask) != item || (r >> other_shift & item_mask) != item);
  return foreign || fresh;
}

// Names two readers already, or one of another group: further reads before the next barrier add nothing.
constexpr bool settled(Record r, Bounds const& b) {
  bool const foreign = !earlier(r, b.launch) && earlier(r, b.group);
  return foreign || (!earlier(r, b.floor) && ((r >> other_shift ^ r) & item_mask) != 0);
}

// Functions of one instruction-set level.
struct CellLoops {
  // Records a read; false where some write stands against it (recorded all the same). `written` may be null: no write.
  bool (*read)(Record const* written, Record* read, Run const&);
  // Records a write; false, with nothing recorded, where some access stands against it. `read` may be null.
  bool (*write)(Record* written, Record const* read, Run const&);
  // The same for places anywhere, some of them perhaps the same; writes up to the first against which something stands:
  // the mask of that and of those after it, not recorded, else 0.
  bool (*read_spread)(Record const* written, Record* read, Spread const&);
  std::uint32_t (*write_spread)(Record* written, Record const* read, Spread const&);
  // Are all cells settled of 16 lanes' accesses, lane i's at byte `base` + offsets[i]?
  bool (*settled)(Record const* read, std::uint64_t base, std::uint32_t const* offsets, unsigned cell_shift,
                  std::uint32_t cells, Bounds const&);
};
CellLoops const& cell_loops();

}  // namespace kernelcast::emu
