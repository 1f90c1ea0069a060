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
#pragma omp simd reduction(| : against)
    for (std::uint32_t i = 0; i < turn; ++i) {
      Record const mine = item + ((begin + i) >> shift);
      read[begin + i] = after_read(read[begin + i], stamp, mine, b);
      if constexpr (AnyWrites) against |= stands_against(written[begin + i], mine, b) ? 1u : 0u;
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

}  // namespace

extern CellLoops const cell_loops_of_level;
CellLoops const cell_loops_of_level{read_cells, write_cells};

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
