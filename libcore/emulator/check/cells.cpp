#include "emulator/check/cells.hpp"

#include <bit>

namespace kernelcast::emu::KERNELCAST_EMU_ISA {

namespace {

// Cells per turn: long enough for any vector, so that a search can end early.
constexpr std::uint32_t turn = 16;

// Of no consequence: of an earlier launch, or ordered by a barrier. Most records of memory that is accessed once are.
bool all_stale(Record const* records, Record since) {
  std::uint64_t fresh = 0;
#pragma omp simd reduction(| : fresh)
  for (std::uint32_t i = 0; i < turn; ++i) fresh |= earlier(records[i], since) ? 0u : 1u;
  return fresh == 0;
}
Record stale_before(Bounds const& b) {
  return b.launch == b.group ? b.floor : b.launch;
}

bool any_against(Record const* records, Record item, unsigned shift, std::uint32_t begin, Bounds const b) {
  std::uint64_t against = 0;
#pragma omp simd reduction(| : against)
  for (std::uint32_t i = 0; i < turn; ++i)
    against |= stands_against(records[i], item + ((begin + i) >> shift), b) ? 1u : 0u;
  return against != 0;
}

void stamp_all(Record* records, Record stamp, Record item, unsigned shift, std::uint32_t begin) {
#pragma omp simd
  for (std::uint32_t i = 0; i < turn; ++i) {
    Record const mine = item + ((begin + i) >> shift);
    records[i] = stamp | mine << other_shift | mine;
  }
}

template <bool AnyWrites>
bool read_run(Record const* written, Record* read, Run const& run) {
  Bounds const b = run.bounds, of_reads = b.of_reads();
  Record const stamp = run.stamp, item = run.item, since = stale_before(b), read_since = stale_before(of_reads);
  unsigned const shift = run.cells_per_item_log2;
  bool against = false;
  for (std::uint32_t begin = 0; begin < run.cells; begin += turn) {
    if constexpr (AnyWrites)
      if (!all_stale(written + begin, since)) against |= any_against(written + begin, item, shift, begin, b);
    if (all_stale(read + begin, read_since)) {
      stamp_all(read + begin, stamp, item, shift, begin);
      continue;
    }
    std::uint64_t news = !run.settles;
#pragma omp simd reduction(| : news)
    for (std::uint32_t i = 0; i < turn; ++i) news |= settled(read[begin + i], of_reads) ? 0u : 1u;
    if (news == 0) continue;
#pragma omp simd
    for (std::uint32_t i = 0; i < turn; ++i) {
      Record const mine = item + ((begin + i) >> shift);
      read[begin + i] = after_read(read[begin + i], stamp, mine, of_reads);
    }
  }
  return !against;
}

template <bool AnyReads>
bool write_run(Record* written, Record const* read, Run const& run) {
  Bounds const b = run.bounds, of_reads = b.of_reads();
  Record const item = run.item, since = stale_before(b), read_since = stale_before(of_reads);
  unsigned const shift = run.cells_per_item_log2;
  for (std::uint32_t begin = 0; begin < run.cells; begin += turn) {
    if (!all_stale(written + begin, since) && any_against(written + begin, item, shift, begin, b)) return false;
    if constexpr (AnyReads)
      if (!all_stale(read + begin, read_since) && any_against(read + begin, item, shift, begin, of_reads)) return false;
  }
  for (std::uint32_t begin = 0; begin < run.cells; begin += turn)
    stamp_all(written + begin, run.stamp, item, shift, begin);
  return true;
}

bool read_cells(Record const* written, Record* read, Run const& run) {
  return written ? read_run<true>(written, read, run) : read_run<false>(written, read, run);
}
bool write_cells(Record* written, Record const* read, Run const& run) {
  return read ? write_run<true>(written, read, run) : write_run<false>(written, read, run);
}

template <std::uint32_t Cells, bool AnyWrites>
bool read_apart(Record const* written, Record* read, Spread const& s) {
  Bounds const b = s.bounds, of_reads = b.of_reads();
  Record const stamp = s.stamp;
  std::uint64_t against = 0;
  for (std::uint32_t rest = s.mask; rest; rest &= rest - 1) {
    std::uint32_t const lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    std::uint64_t const cell = (s.base + s.offsets[lane]) >> s.cell_shift;
    Record const mine = s.item + lane;
    if constexpr (AnyWrites)
#pragma omp simd reduction(| : against)
      for (std::uint32_t i = 0; i < Cells; ++i) against |= stands_against(written[cell + i], mine, b) ? 1u : 0u;
#pragma omp simd
    for (std::uint32_t i = 0; i < Cells; ++i) read[cell + i] = after_read(read[cell + i], stamp, mine, of_reads);
  }
  return against == 0;
}

template <std::uint32_t Cells, bool AnyReads>
std::uint32_t write_apart(Record* written, Record const* read, Spread const& s) {
  Bounds const b = s.bounds, of_reads = b.of_reads();
  std::uint32_t rest = s.mask;
  for (; rest; rest &= rest - 1) {
    std::uint32_t const lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    std::uint64_t const cell = (s.base + s.offsets[lane]) >> s.cell_shift;
    Record const mine = s.item + lane;
    std::uint64_t against = 0;
#pragma omp simd reduction(| : against)
    for (std::uint32_t i = 0; i < Cells; ++i) {
      against |= stands_against(written[cell + i], mine, b) ? 1u : 0u;
      if constexpr (AnyReads) against |= stands_against(read[cell + i], mine, of_reads) ? 1u : 0u;
    }
    if (against != 0) break;
    for (std::uint32_t i = 0; i < Cells; ++i) written[cell + i] = s.stamp | mine << other_shift | mine;
  }
  return rest;
}

template <std::uint32_t Cells>
bool read_lanes(Record const* written, Record* read, Spread const& s) {
  return written ? read_apart<Cells, true>(written, read, s) : read_apart<Cells, false>(written, read, s);
}
template <std::uint32_t Cells>
std::uint32_t write_lanes(Record* written, Record const* read, Spread const& s) {
  return read ? write_apart<Cells, true>(written, read, s) : write_apart<Cells, false>(written, read, s);
}

bool read_spread_cells(Record const* written, Record* read, Spread const& s) {
  return s.cells_per_item_log2 == 0   ? read_lanes<1>(written, read, s)
         : s.cells_per_item_log2 == 1 ? read_lanes<2>(written, read, s)
                                      : read_lanes<4>(written, read, s);
}
std::uint32_t write_spread_cells(Record* written, Record const* read, Spread const& s) {
  return s.cells_per_item_log2 == 0   ? write_lanes<1>(written, read, s)
         : s.cells_per_item_log2 == 1 ? write_lanes<2>(written, read, s)
                                      : write_lanes<4>(written, read, s);
}

template <std::uint32_t Cells>
bool lanes_settled(Record const* read, std::uint64_t base, std::uint32_t const* offsets, unsigned cell_shift,
                   Bounds const of_reads) {
  std::uint32_t last = ~offsets[0];
  for (std::uint32_t lane = 0; lane < turn; ++lane) {
    if (offsets[lane] == last) continue;
    last = offsets[lane];
    Record const* const at = read + ((base + last) >> cell_shift);
    std::uint64_t news = 0;
#pragma omp simd reduction(| : news)
    for (std::uint32_t i = 0; i < Cells; ++i) news |= settled(at[i], of_reads) ? 0u : 1u;
    if (news != 0) return false;
  }
  return true;
}

bool settled_cells(Record const* read, std::uint64_t base, std::uint32_t const* offsets, unsigned cell_shift,
                   std::uint32_t cells, Bounds const& b) {
  switch (cells) {
    case 1:
      return lanes_settled<1>(read, base, offsets, cell_shift, b.of_reads());
    case 2:
      return lanes_settled<2>(read, base, offsets, cell_shift, b.of_reads());
    case 4:
      return lanes_settled<4>(read, base, offsets, cell_shift, b.of_reads());
    default:
      return false;
  }
}

}  // namespace

extern CellLoops const cell_loops_of_level;
CellLoops const cell_loops_of_level{read_cells, write_cells, read_spread_cells, write_spread_cells, settled_cells};

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
