#include "emu/check/cells.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {

namespace {

// Cells per turn: long enough for any vector, so that a search can end early.
constexpr std::uint32_t turn = 16;

template <bool AnyWrites>
bool read_run(Record const* written, Record* read, Run const& run) {
  Bounds const b = run.bounds;
  Record const stamp = run.stamp, item = run.item;
  unsigned const shift = run.cells_per_item_log2;
  std::uint64_t against = 0;
  for (std::uint32_t begin = 0; begin < run.cells; begin += turn) {
    if constexpr (AnyWrites) {
#pragma omp simd reduction(| : against)
      for (std::uint32_t i = 0; i < turn; ++i) {
        Record const mine = item + ((begin + i) >> shift);
        against |= stands_against(written[begin + i], mine, b) ? 1u : 0u;
      }
    }
    std::uint64_t news = !run.settles;
#pragma omp simd reduction(| : news)
    for (std::uint32_t i = 0; i < turn; ++i) news |= settled(read[begin + i], b) ? 0u : 1u;
    if (news == 0) continue;
#pragma omp simd
    for (std::uint32_t i = 0; i < turn; ++i) {
      Record const mine = item + ((begin + i) >> shift);
      read[begin + i] = after_read(read[begin + i], stamp, mine, b);
    }
  }
  return against == 0;
}

template <bool AnyReads>
bool write_run(Record* written, Record const* read, Run const& run) {
  Bounds const b = run.bounds;
  Record const item = run.item;
  unsigned const shift = run.cells_per_item_log2;
  std::uint64_t against = 0;
  for (std::uint32_t begin = 0; begin < run.cells; begin += turn) {
#pragma omp simd reduction(| : against)
    for (std::uint32_t i = 0; i < turn; ++i) {
      Record const mine = item + ((begin + i) >> shift);
      against |= stands_against(written[begin + i], mine, b) ? 1u : 0u;
      if constexpr (AnyReads) against |= stands_against(read[begin + i], mine, b) ? 1u : 0u;
    }
  }
  if (against != 0) return false;
  for (std::uint32_t begin = 0; begin < run.cells; begin += turn) {
#pragma omp simd
    for (std::uint32_t i = 0; i < turn; ++i) {
      Record const mine = item + ((begin + i) >> shift);
      written[begin + i] = run.stamp | mine << other_shift | mine;
    }
  }
  return true;
}

bool read_cells(Record const* written, Record* read, Run const& run) {
  return written ? read_run<true>(written, read, run) : read_run<false>(written, read, run);
}
bool write_cells(Record* written, Record const* read, Run const& run) {
  return read ? write_run<true>(written, read, run) : write_run<false>(written, read, run);
}

template <std::uint32_t Cells>
bool lanes_settled(Record const* read, std::uint64_t base, std::uint32_t const* offsets, unsigned cell_shift,
                   Bounds const b) {
  std::uint32_t last = ~offsets[0];
  for (std::uint32_t lane = 0; lane < turn; ++lane) {
    if (offsets[lane] == last) continue;
    last = offsets[lane];
    Record const* const at = read + ((base + last) >> cell_shift);
    std::uint64_t news = 0;
#pragma omp simd reduction(| : news)
    for (std::uint32_t i = 0; i < Cells; ++i) news |= settled(at[i], b) ? 0u : 1u;
    if (news != 0) return false;
  }
  return true;
}

bool settled_cells(Record const* read, std::uint64_t base, std::uint32_t const* offsets, unsigned cell_shift,
                   std::uint32_t cells, Bounds const& b) {
  switch (cells) {
    case 1:
      return lanes_settled<1>(read, base, offsets, cell_shift, b);
    case 2:
      return lanes_settled<2>(read, base, offsets, cell_shift, b);
    case 4:
      return lanes_settled<4>(read, base, offsets, cell_shift, b);
    default:
      return false;
  }
}

}  // namespace

extern CellLoops const cell_loops_of_level;
CellLoops const cell_loops_of_level{read_cells, write_cells, settled_cells};

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
