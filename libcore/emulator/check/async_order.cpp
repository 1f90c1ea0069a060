#include "emulator/check/async_order.hpp"

#include <algorithm>

namespace kernelcast::emu {

namespace {

constexpr std::size_t max_released = 4096;  // addresses; atomics beyond share one

void join(AsyncOrder::Row& to, AsyncOrder::Row const& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
}

std::uint32_t parity_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 61 & 1);
}

std::uint32_t pending_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(word & 0xfffff);
}

}  // namespace

void AsyncOrder::begin_group() {
  now_ = 1;
  rows_ = {};
  barriers_.clear();
  known_barriers_ = 0;
  tests_.clear();
  access_ = 0;
  released_.clear();
}

void AsyncOrder::fence(std::uint32_t warp) {
  Row& row = rows_[warp];
  for (std::uint32_t v = 0; v < max_warps; ++v) row[fenced + v] = std::max(row[fenced + v], row[seen + v]);
  row[fenced + warp] = tick();
}

void AsyncOrder::finish(Entry entry, std::uint32_t warp) {
  rows_[warp][entry + warp] = tick();
}

void AsyncOrder::raise(std::uint16_t entry, Time count, std::uint32_t warp) {
  rows_[warp][entry] = std::max(rows_[warp][entry], count);
}

void AsyncOrder::meet(Meeting const& m) {
  Row all{};
  Time const now = tick();
  for (std::uint32_t w = 0; w < m.warps; ++w) {
    if (!m.everyone && !m.waiting[w] && !m.arrived[w]) continue;
    join(all, rows_[w]);
    all[seen + w] = now;
  }
  for (std::uint32_t w = 0; w < m.warps; ++w)
    if (m.everyone || m.waiting[w]) join(rows_[w], all);
}

void AsyncOrder::atomic(std::uint32_t warp, std::uint64_t address, bool reads, bool writes) {
  if (released_.size() >= max_released && !released_.contains(address)) address = ~std::uint64_t{0};
  Row& at = released_[address];
  if (reads) join(rows_[warp], at);
  if (!writes) return;
  rows_[warp][seen + warp] = tick();
  join(at, rows_[warp]);
}

AsyncOrder::Barrier& AsyncOrder::barrier_at(std::uint64_t object, std::uint64_t word) {
  auto const [at, is_new] = barriers_.try_emplace(object);
  Barrier& b = at->second;
  if (is_new) {
    if (known_barriers_ < max_barriers) b.entry = static_cast<std::uint16_t>(phases + known_barriers_++);
    b.parity = parity_of(word);
  }
  if (b.access == access_) return b;
  b.access = access_;
  std::uint32_t const left = parity_of(word) == b.parity ? pending_of(word) : 0;
  b.from_others |= in_cluster_ && b.pending != unknown_arrivals && b.pending != left;
  b.pending = pending_of(word);
  if (parity_of(word) == b.parity) return b;
  b.from_others |= in_cluster_ && !b.any_arrived;
  b.any_arrived = false;
  // The phase is complete since the last operation.
  b.parity = parity_of(word);
  ++b.phase;
  join(b.completed, b.current);
  b.current = {};
  if (b.entry != done) b.completed[b.entry] = b.phase;
  return b;
}

AsyncOrder::Phase AsyncOrder::phase_of(std::uint64_t object, std::uint64_t word) {
  Barrier const& b = barrier_at(object, word);
  return {b.entry, b.phase};
}

void AsyncOrder::initialise(std::uint64_t object, std::uint32_t arrivals) {
  Barrier& b = barrier_at(object, 0);
  b.parity = 0;
  ++b.phase;
  b.current = b.completed = {};
  b.pending = arrivals;
  b.from_others = b.any_arrived = false;
}

void AsyncOrder::arrive(std::uint32_t warp, std::uint64_t object, std::uint64_t word, std::uint32_t arrivals) {
  Barrier& b = barrier_at(object, word);
  b.any_arrived = true;
  b.pending = arrivals == unknown_arrivals || arrivals > b.pending ? unknown_arrivals : b.pending - arrivals;
  rows_[warp][seen + warp] = tick();
  join(b.current, rows_[warp]);
}

void AsyncOrder::promise(std::uint64_t object, std::uint64_t word, std::uint16_t entry, Time count) {
  Barrier& b = barrier_at(object, word);
  b.current[entry] = std::max(b.current[entry], count);
}

void AsyncOrder::test(std::uint32_t warp, std::uint64_t object, std::uint64_t word) {
  barrier_at(object, word);
  if (tests_.empty() || tests_.back().warp != warp || tests_.back().object != object) tests_.push_back({warp, object});
}

void AsyncOrder::phase_met(Meeting const& m) {
  for (Test const& t : tests_)
    if (t.warp < m.warps && m.waiting[t.warp]) {
      Barrier const& b = barriers_[t.object];
      join(rows_[t.warp], b.completed);
      if (!b.from_others) continue;
      Time const now = tick();
      for (std::uint32_t w = 0; w < max_warps; ++w) {
        join(rows_[t.warp], rows_[w]);
        rows_[t.warp][seen + w] = now;
      }
    }
  tests_.clear();
}

}  // namespace kernelcast::emu
