#include "emulator/check/barriers.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace kernelcast::emu {

void BarrierCheck::begin(Facts const& facts, Launch const& launch) {
  facts_ = &facts;
  items_ = launch.block.count();
  arrived_ = {};
}

void BarrierCheck::arrive(std::uint32_t instruction) {
  Facts::Site const& site = facts_->sites[instruction];
  std::uint32_t const place = site.first_of_line;
  arrived_.has_flags &= site.has_flags;
  if (!arrived_.any) {
    arrived_.any = true;
    arrived_.met = {site.orders, instruction};
    arrived_.first = arrived_.last = place;
    return;
  }
  // Of flags that differ, which OpenCL leaves undefined, what all have in common.
  arrived_.met.orders &= site.orders;
  arrived_.first = std::min(arrived_.first, place);
  arrived_.last = std::max(arrived_.last, place);
}

BarrierCheck::Met BarrierCheck::meet(Meeting const& m, std::uint64_t groups) {
  if (m.phase) return {};
  auto const arrived = std::exchange(arrived_, {});
  if (!arrived.any || !arrived.has_flags || !m.everyone) return {};
  if (arrived.first != arrived.last)
    report(0, arrived.first, arrived.last,
           "portability: some work-items of the group wait at this barrier and others at the one at " +
               reporter_.place(arrived.last) + ": OpenCL asks for the same one, and some devices wait for ever");
  std::uint64_t waiting = 0;
  for (std::uint32_t w = 0; w < m.warps; ++w) waiting += static_cast<std::uint64_t>(std::popcount(m.waiting[w]));
  if (waiting >= items_ * groups) return arrived.met;
  std::uint32_t first = 0;
  while (m.waiting[first / lanes_per_warp] >> first % lanes_per_warp & 1) ++first;
  report(
      first, arrived.first, arrived.first,
      "portability: " + std::to_string(items_ * groups - waiting) + " of the group's " + std::to_string(items_) +
          " work-items have returned before this barrier, this one among them: OpenCL asks for all of them, and some "
          "devices wait for ever");
  return arrived.met;
}

void BarrierCheck::report(std::uint32_t work_item, std::uint32_t instruction, std::uint32_t other,
                          std::string message) {
  if (known_ && !known_->is_new(Finding::Kind::portability, instruction, other)) return;
  reporter_.report(Finding::Kind::portability, work_item, instruction, other, std::move(message));
}

}  // namespace kernelcast::emu
