#include "sequential/reads.hpp"

#include <algorithm>

namespace kernelcast::seq {

namespace {

// The innermost running loop that a clock lies in, and whether in its current iteration: equal for clocks that will
// never be told apart again.
std::int64_t class_of(std::uint64_t clock, LoopFrame const* bottom, LoopFrame const* top) {
  for (auto const* frame = top; frame >= bottom; --frame)
    if (clock >= frame->start) return (frame - bottom) * 2 + (clock >= frame->now);
  return -1;
}

}  // namespace

std::uint32_t Reads::fresh_list() {
  if (free_.empty()) {
    older_.emplace_back();
    return static_cast<std::uint32_t>(older_.size() - 1);
  }
  auto const index = free_.back();
  free_.pop_back();
  return index;
}

void Reads::forget(Cell& cell) {
  if (cell.older != 0) {
    older_[cell.older].clear();
    free_.push_back(cell.older);
  }
  cell = {};
}

Reads::Page* Reads::page(std::uint64_t address, std::uint64_t unit, bool make) {
  auto const number = address / read_page_bytes;
  auto at = pages_.find(number);
  if (at == pages_.end()) {
    if (!make) return nullptr;
    at = pages_.try_emplace(number).first;
    at->second.unit = unit;
    at->second.cells.resize(read_page_bytes / unit);
  }
  auto& page = at->second;
  if (page.unit > unit) {
    std::vector<Cell> finer(read_page_bytes / unit);
    for (std::size_t i = 0; i < finer.size(); ++i) {
      auto const& from = page.cells[i * unit / page.unit];
      finer[i] = from;
      if (from.older == 0 || i * unit % page.unit == 0) continue;
      auto const index = fresh_list();
      older_[index] = older_[from.older];
      finer[i].older = index;
    }
    page.unit = unit;
    page.cells = std::move(finer);
  }
  return &page;
}

void Reads::read(std::uint64_t address, std::uint64_t size, LoopFrame const* bottom, LoopFrame const* top) {
  each(address, size, true, [&](Cell& cell) {
    auto const before = cell.last;
    cell.last = top->now;
    if (before == 0 || before >= top->now) return;
    if (cell.older == 0) cell.older = fresh_list();
    auto& older = older_[cell.older];
    auto const of_before = class_of(before, bottom, top);
    auto const same = [&](std::uint64_t clock) { return class_of(clock, bottom, top) == of_before; };
    older.erase(std::remove_if(older.begin(), older.end(), same), older.end());
    older.push_back(before);
  });
}

void Reads::used(std::uint64_t address, std::uint64_t size, std::uint64_t level) {
  each(address, size, true, [&](Cell& cell) { cell.level = std::max(cell.level, static_cast<std::uint32_t>(level)); });
}

void Reads::clear(std::uint64_t address, std::uint64_t size) {
  each(address, size, false, [&](Cell& cell) { forget(cell); });
}

}  // namespace kernelcast::seq
