// The set of 32-byte sectors of global memory that a kernel touches.
//
// A bitmap in pages of 1 MiB of memory each (4 KiB of bits), allocated when first touched, so that a sparse kernel on
// large buffers costs little. Marking a run of neighbouring sectors is two ORs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace kernelcast::emu {

// Sectors of an access relative to a reference sector: bit i stands for sector reference + offset + i.
struct SectorRun {
  std::int32_t offset = 0;
  std::uint64_t bits = 0;
  friend bool operator==(SectorRun const&, SectorRun const&) = default;
};

class Footprint {
 public:
  void mark(std::uint64_t sector, SectorRun const& run) {
    std::uint64_t const first = sector + static_cast<std::int64_t>(run.offset);
    unsigned const shift = first & 63;
    word(first >> 6) |= run.bits << shift;
    if (std::uint64_t const rest = run.bits >> 1 >> (63 - shift)) word((first >> 6) + 1) |= rest;
  }
  void mark(std::uint64_t sector) { word(sector >> 6) |= std::uint64_t{1} << (sector & 63); }

  void add(Footprint const& other);
  std::uint64_t sectors() const;
  std::uint64_t lines() const;  // of four sectors, 128 bytes
  // Calls each(first, bits), ascending, for 64 sectors from `first` on of which some are touched.
  template <class Each>
  void for_each(Each each) const {
    for (std::size_t p = 0; p < pages_.size(); ++p)
      for (std::size_t w = 0; pages_[p] && w < words_per_page; ++w)
        if (std::uint64_t const bits = (*pages_[p])[w]) each(((first_page_ + p) * words_per_page + w) * 64, bits);
  }

 private:
  static constexpr std::size_t words_per_page = 512;
  using Page = std::array<std::uint64_t, words_per_page>;

  std::uint64_t& word(std::uint64_t index) {
    std::uint64_t const page = index / words_per_page - first_page_;
    if (page >= pages_.size() || !pages_[page]) [[unlikely]]
      add_page(index / words_per_page);
    return (*pages_[index / words_per_page - first_page_])[index % words_per_page];
  }
  void add_page(std::uint64_t page);

  std::uint64_t first_page_ = 0;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace kernelcast::emu
