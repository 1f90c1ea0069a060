// What has been read since it was last written, for dependences of writes on earlier reads.
//
// Problem: a write is carried by a loop when an earlier iteration of that run of the loop read the place, and the place
// was not written between; any of the reads since the last write may tell.
// Method: of the reads that lie in the same iteration of a running loop, or in its earlier iterations, one stands for
// all: as many are kept as there are loops around. Cells of 8 bytes, of 4 or 1 in pages that are accessed so.
// Limits: some 24 bytes for each word that is read.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sequential/abi.hpp"

namespace kernelcast::seq {

class Reads {
 public:
  // A read in the current iteration of `top`; frames run from `bottom` to `top`.
  void read(std::uint64_t address, std::uint64_t size, LoopFrame const* bottom, LoopFrame const* top);
  // An operation of this level works on what was read.
  void used(std::uint64_t address, std::uint64_t size, std::uint64_t level);
  // Forgets the reads and gives the highest level of their users; f(clock) for each read that was kept.
  template <class F>
  std::uint64_t written(std::uint64_t address, std::uint64_t size, F f) {
    std::uint64_t level = 0;
    each(address, size, false, [&](Cell& cell) {
      level = cell.level > level ? cell.level : level;
      if (cell.last != 0) f(cell.last);
      if (cell.older != 0)
        for (auto const clock : older_[cell.older]) f(clock);
      forget(cell);
    });
    return level;
  }
  void clear(std::uint64_t address, std::uint64_t size);

 private:
  struct Cell {
    std::uint64_t last = 0;   // clock of the last read; 0: none
    std::uint32_t older = 0;  // index of those before it; 0: none
    std::uint32_t level = 0;  // of its users
  };
  struct Page {
    std::uint64_t unit = 8;  // bytes of a cell
    std::vector<Cell> cells;
  };

  template <class F>
  void each(std::uint64_t address, std::uint64_t size, bool make, F f);
  Page* page(std::uint64_t address, std::uint64_t unit, bool make);
  void forget(Cell&);
  std::uint32_t fresh_list();

  std::unordered_map<std::uint64_t, Page> pages_;
  std::vector<std::vector<std::uint64_t>> older_ = std::vector<std::vector<std::uint64_t>>(1);
  std::vector<std::uint32_t> free_;
};

inline constexpr std::uint64_t read_page_bytes = 4096;

template <class F>
void Reads::each(std::uint64_t address, std::uint64_t size, bool make, F f) {
  while (size > 0) {
    auto const room = read_page_bytes - address % read_page_bytes;
    auto const now = size < room ? size : room;
    auto const together = address | now;
    if (auto* const at = page(address, together % 8 == 0 ? 8 : together % 4 == 0 ? 4 : 1, make))
      for (std::uint64_t done = 0; done < now; done += at->unit)
        f(at->cells[(address + done) % read_page_bytes / at->unit]);
    address += now;
    size -= now;
  }
}

}  // namespace kernelcast::seq
