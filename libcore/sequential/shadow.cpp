#include "sequential/shadow.hpp"

#include <sys/mman.h>

#include <new>

namespace kernelcast::seq {

namespace {

constexpr std::uint64_t page_mask = 4095;

void reserve(std::uint64_t base, std::uint64_t bytes) {
  auto* const wanted = reinterpret_cast<void*>(base);  // NOLINT: the shadow has a fixed place
  auto* const got = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got != wanted) throw std::bad_alloc();
  madvise(got, bytes, MADV_HUGEPAGE);
}

}  // namespace

void Shadow::map() {
  reserve(words_base, address_mask + 1);
  reserve(halves_base, 2 * (address_mask + 1));
  reserve(widths_base, (level_mask + 1) * 8);
}

std::uint64_t Shadow::byte_cell(std::uint64_t address) const {
  auto const page = pages_.find(address & ~page_mask);
  return page == pages_.end() ? 0 : (*page->second)[address & page_mask];
}

std::uint64_t* Shadow::bytes_of(std::uint64_t address) {
  auto& page = pages_[address & ~page_mask];
  if (!page) page = std::make_unique<Page>();
  return page->data() + (address & page_mask);
}

void Shadow::split(std::uint64_t address) {
  auto& word = word_cell(address);
  if (word >= split_cell) return;
  half_cell(address & ~std::uint64_t{7}) = word;
  half_cell((address & ~std::uint64_t{7}) + 4) = word;
  word = split_cell;
}

void Shadow::store(std::uint64_t address, std::uint64_t size, std::uint64_t cell) {
  auto const end = address + size;
  while (address < end) {
    if ((address & 7) == 0 && end - address >= 8) {
      word_cell(address) = cell;
      address += 8;
      continue;
    }
    split(address);
    auto const half = address & ~std::uint64_t{3};
    if (half == address && end - address >= 4) {
      half_cell(half) = cell;
      address += 4;
      continue;
    }
    auto& of_half = half_cell(half);
    if (of_half < split_cell) {
      for (std::uint64_t i = 0; i < 4; ++i) *bytes_of(half + i) = of_half;
      of_half = split_cell;
    }
    *bytes_of(address++) = cell;
  }
}

void Shadow::clear(std::uint64_t address, std::uint64_t size) {
  auto const end = address + size;
  // Whole pages of cells go back to the system; there they read as 0.
  if (auto const first = (address + page_mask) & ~page_mask, last = end & ~page_mask; last > first + (1 << 18)) {
    madvise(&word_cell(first), last - first, MADV_DONTNEED);
    clear(address, first - address);
    return clear(last, end - last);
  }
  // What was never touched stays untouched.
  while (address < end) {
    if ((address & 7) == 0 && end - address >= 8) {
      if (word_cell(address) != 0) word_cell(address) = 0;
      address += 8;
    } else {
      store(address++, 1, 0);
    }
  }
}

}  // namespace kernelcast::seq
