// The slow paths of the shadow memory: words that are written in parts, accesses of odd sizes, copies. The fast paths
// are in instrumented code. A split word has cells for its halves; a split half has cells for its bytes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "sequential/abi.hpp"

namespace kernelcast::seq {

class Shadow {
 public:
  // Maps the memory at its fixed place; throws std::bad_alloc when that is not free.
  static void map();

  // An aligned word that is not split, and its cell.
  static bool is_whole(std::uint64_t address) { return (address & 7) == 0 && word_cell(address) < split_cell; }
  static std::uint64_t cell_of_whole(std::uint64_t address) { return word_cell(address); }
  // Cells of all parts of [address, address + size): f(cell).
  template <class F>
  void each(std::uint64_t address, std::uint64_t size, F f) const {
    auto const end = address + size;
    while (address < end) {
      auto const word = address & ~std::uint64_t{7};
      auto const cell = word_cell(word);
      if (cell < split_cell) {
        f(cell);
        address = word + 8;
        continue;
      }
      auto const half = address & ~std::uint64_t{3};
      auto const of_half = half_cell(half);
      if (of_half < split_cell) {
        f(of_half);
        address = half + 4;
        continue;
      }
      f(byte_cell(address));
      ++address;
    }
  }
  void store(std::uint64_t address, std::uint64_t size, std::uint64_t cell);
  void split(std::uint64_t address);  // the word around it, if it is whole
  void clear(std::uint64_t address, std::uint64_t size);

 private:
  using Page = std::array<std::uint64_t, 4096>;
  static std::uint64_t& word_cell(std::uint64_t address) {
    return *reinterpret_cast<std::uint64_t*>(words_base + (address & address_mask & ~std::uint64_t{7}));
  }
  static std::uint64_t& half_cell(std::uint64_t address) {
    return *reinterpret_cast<std::uint64_t*>(halves_base + ((address & address_mask & ~std::uint64_t{3}) << 1));
  }
  std::uint64_t byte_cell(std::uint64_t address) const;
  std::uint64_t* bytes_of(std::uint64_t address);

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace kernelcast::seq
