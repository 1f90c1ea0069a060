#include "emulator/observe/footprint.hpp"

#include <algorithm>

namespace kernelcast::emu {

void Footprint::add_page(std::uint64_t page) {
  if (pages_.empty()) first_page_ = page;
  if (page < first_page_) {
    std::vector<std::unique_ptr<Page>> moved(first_page_ - page + pages_.size());
    std::move(pages_.begin(), pages_.end(), moved.begin() + static_cast<std::ptrdiff_t>(first_page_ - page));
    pages_ = std::move(moved);
    first_page_ = page;
  }
  std::uint64_t const index = page - first_page_;
  if (index >= pages_.size()) pages_.resize(index + 1);
  if (!pages_[index]) pages_[index] = std::make_unique<Page>();
}

void Footprint::add(Footprint const& other) {
  for (std::size_t p = 0; p < other.pages_.size(); ++p) {
    if (!other.pages_[p]) continue;
    std::uint64_t const first_word = (other.first_page_ + p) * words_per_page;
    for (std::size_t w = 0; w < words_per_page; ++w)
      if (std::uint64_t const bits = (*other.pages_[p])[w]) word(first_word + w) |= bits;
  }
}

std::uint64_t Footprint::sectors() const {
  std::uint64_t count = 0;
  for (auto const& page : pages_)
    if (page)
      for (std::uint64_t const bits : *page) count += static_cast<std::uint64_t>(std::popcount(bits));
  return count;
}

std::uint64_t Footprint::lines() const {
  std::uint64_t count = 0;
  for (auto const& page : pages_)
    if (page)
      for (std::uint64_t const bits : *page)
        count +=
            static_cast<std::uint64_t>(std::popcount((bits | bits >> 1 | bits >> 2 | bits >> 3) & 0x1111111111111111));
  return count;
}

}  // namespace kernelcast::emu
