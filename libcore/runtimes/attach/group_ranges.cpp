#include "runtimes/attach/group_ranges.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <set>

namespace kernelcast::attach {

namespace {

constexpr double widest = 2;  // times the span of the sample: wider ones are irregular

using Place = std::array<std::uint64_t, 3>;

double number(std::uint64_t byte) {
  return static_cast<double>(byte);
}

Place place_of(std::uint64_t group, emu::Dim3 const& grid) {
  return {group % grid.x, group / grid.x % grid.y, group / grid.x / grid.y};
}
std::uint64_t linear(Place const& at, emu::Dim3 const& grid) {
  return at[0] + grid.x * (at[1] + grid.y * at[2]);
}

// The indices along an axis whose groups are examined.
std::array<std::uint64_t, 2> ends_of(std::uint64_t size) {
  if (size < 4) return {0, size - 1};
  return {1, size - 2};
}

// Calls use(lowest, highest offset) for lanes side by side, and where that is false for one after the other.
template <class Use>
void by_halves(emu::MemoryAccess const& access, Use use) {
  for (std::uint32_t h = 0; h < 2 * access.lanes.warps; ++h) {
    std::uint32_t const mask = access.lanes.masks[h / 2] >> 16 * (h % 2) & 0xffff;
    auto const* const offsets = access.offsets + std::size_t{16} * h;
    bool const steady = mask == 0xffff && access.steps && access.steps[h] != emu::MemoryAccess::no_step &&
                        std::abs(static_cast<std::int32_t>(access.steps[h])) < 1 << 26;
    if (steady && use(std::min(offsets[0], offsets[15]), std::max(offsets[0], offsets[15]))) continue;
    for (std::uint32_t rest = mask; rest; rest &= rest - 1) {
      auto const offset = offsets[std::countr_zero(rest)];
      use(offset, offset);
    }
  }
}

}  // namespace

GroupRanges::GroupRanges(emu::Dim3 grid, FindBlock find) : grid_(grid), find_(std::move(find)) {
  std::set<std::uint64_t> sample{linear({grid.x / 2, grid.y / 2, grid.z / 2}, grid)};
  ends_ = {ends_of(grid.x), ends_of(grid.y), ends_of(grid.z)};
  for (auto const z : ends_[2])
    for (auto const y : ends_[1])
      for (auto const x : ends_[0]) sample.insert(linear({x, y, z}, grid));
  sample_.assign(sample.begin(), sample.end());
}

// ---------------------------------------------------------------- observers

void GroupRanges::group_begin(std::uint64_t group) {
  group_ = group;
  marks_ = std::binary_search(sample_.begin(), sample_.end(), group);
}

void GroupRanges::group_end() {
  for (auto& [key, touched] : touched_) {
    if (touched.now.end == 0) continue;
    touched.now.group = group_;
    touched.groups.push_back(touched.now);
    touched.now = {};
  }
}

void GroupRanges::memory(emu::MemoryAccess const& access) {
  if (access.space != ptx::StateSpace::global && access.space != ptx::StateSpace::constant &&
      access.space != ptx::StateSpace::tex)
    return;
  bool const reads = access.direction != emu::Direction::store, writes = access.direction != emu::Direction::load;
  Block block;
  std::uint64_t lowest = ~std::uint64_t{0}, highest = 0;  // in that block, so far
  auto const note = [&] {
    if (highest == 0) return;
    if (reads) add(block, false, lowest, highest);
    if (writes) add(block, true, lowest, highest);
  };
  by_halves(access, [&](std::uint32_t low, std::uint32_t high) {
    std::uint64_t const begin = access.base + low, end = access.base + high + access.bytes_per_lane;
    auto const there = begin - block.address < block.bytes ? block : block_of(begin);
    if (end - there.address > there.bytes && there.bytes != 0) return false;
    if (there.address != block.address) {
      note();
      block = there;
      lowest = ~std::uint64_t{0};
      highest = 0;
    }
    if (there.bytes == 0) return low == high;
    lowest = std::min(lowest, begin);
    highest = std::max(highest, end);
    return true;
  });
  note();
  if (!marks_) return;
  if (reads) mark(access, false);
  if (writes) mark(access, true);
}

GroupRanges::Block const& GroupRanges::block_of(std::uint64_t address) {
  if (address - last_.address < last_.bytes) return last_;
  auto const after = blocks_.upper_bound(address);
  if (after != blocks_.begin()) {
    auto const& known = std::prev(after)->second;
    if (address - known.address < known.bytes) return last_ = known;
  }
  auto const found = find_(address);
  if (found.bytes != 0) blocks_[found.address] = found;
  return last_ = found;
}

void GroupRanges::add(Block const& block, bool write, std::uint64_t begin, std::uint64_t end) {
  auto& touched = latest_[write];
  if (!touched.second || touched.first != block.address) touched = {block.address, &touched_[{block.address, write}]};
  auto& now = touched.second->now;
  now.begin = std::min(now.begin, begin);
  now.end = std::max(now.end, end);
}

void GroupRanges::mark(emu::MemoryAccess const& access, bool write) {
  for (std::uint32_t w = 0; w < access.lanes.warps; ++w)
    for (std::uint32_t mask = access.lanes.masks[w]; mask; mask &= mask - 1) {
      auto const lane = emu::lanes_per_warp * w + static_cast<std::uint32_t>(std::countr_zero(mask));
      std::uint64_t const address = access.base + access.offsets[lane];
      auto const& block = block_of(address);
      if (block.bytes == 0) continue;
      auto& footprint = touched_[{block.address, write}].footprints[group_];
      for (std::uint64_t sector = address >> 5; sector <= (address + access.bytes_per_lane - 1) >> 5; ++sector)
        footprint.mark(sector);
    }
}

std::unique_ptr<emu::Observer> GroupRanges::fork() const {
  return std::make_unique<GroupRanges>(grid_, find_);
}

void GroupRanges::join(emu::Observer const& other) {
  auto const& theirs = dynamic_cast<GroupRanges const&>(other);
  blocks_.insert(theirs.blocks_.begin(), theirs.blocks_.end());
  for (auto const& [key, touched] : theirs.touched_) {
    auto& mine = touched_[key];
    mine.groups.insert(mine.groups.end(), touched.groups.begin(), touched.groups.end());
    for (auto const& [group, footprint] : touched.footprints) mine.footprints[group].add(footprint);
  }
}

// ---------------------------------------------------------------- the function

std::vector<GroupRanges::Found> GroupRanges::accesses(bool all) const {
  std::vector<Found> out;
  for (auto const& [key, touched] : touched_)
    if (!touched.groups.empty()) out.push_back({blocks_.at(key.first), fit(key, touched, all)});
  return out;
}

std::pair<std::uint64_t, std::uint64_t> GroupRanges::written(std::uint64_t block_address) const {
  std::pair<std::uint64_t, std::uint64_t> out{~std::uint64_t{0}, 0};
  for (auto const& range : touched_.at({block_address, true}).groups)
    out = {std::min(out.first, range.begin), std::max(out.second, range.end)};
  return out;
}

graph::Access GroupRanges::fit(Key const& key, Touched const& touched, bool all) const {
  auto const& block = blocks_.at(key.first);
  std::map<std::uint64_t, Range const*> of_sample;
  std::uint64_t lowest = ~std::uint64_t{0}, highest = 0;
  for (auto const& range : touched.groups) {
    lowest = std::min(lowest, range.begin);
    highest = std::max(highest, range.end);
    if (std::binary_search(sample_.begin(), sample_.end(), range.group)) of_sample[range.group] = &range;
  }
  graph::Access out;
  out.write = key.second;
  auto const middle = touched.footprints.find(linear({grid_.x / 2, grid_.y / 2, grid_.z / 2}, grid_));
  if (middle != touched.footprints.end()) out.touched_bytes = 32 * number(middle->second.sectors());
  // All groups together; parts that write there write between each other's bytes.
  auto const irregular = [&] {
    bool const part = all && (lowest > block.address || highest < block.address + block.bytes);
    out.regular = part;
    out.step = {};
    out.first = part ? number(lowest - block.address) : 0;
    out.span_bytes = part ? number(highest - lowest) : number(block.bytes);
    if (out.touched_bytes == 0 || (part && !out.write)) out.touched_bytes = out.span_bytes;
    out.touched_bytes = std::min(out.touched_bytes, out.span_bytes);
    return out;
  };

  Place const origin{ends_[0][0], ends_[1][0], ends_[2][0]};
  auto const at = [&](Place const& place) {
    auto const found = of_sample.find(linear(place, grid_));
    return found == of_sample.end() ? nullptr : found->second;
  };
  auto const* const base = at(origin);
  if (!base) return irregular();
  for (std::size_t i = 0; i < 3; ++i) {
    if (ends_[i][1] == ends_[i][0]) continue;
    Place other = origin;
    other[i] = ends_[i][1];
    auto const* const there = at(other);
    if (!there) return irregular();
    out.step[i] = (number(there->begin) - number(base->begin)) / number(other[i] - origin[i]);
  }
  out.first = number(base->begin - block.address);
  for (std::size_t i = 0; i < 3; ++i) out.first -= out.step[i] * number(origin[i]);
  auto const expected = [&](std::uint64_t group) {
    auto const place = place_of(group, grid_);
    double value = out.first;
    for (std::size_t i = 0; i < 3; ++i) value += out.step[i] * number(place[i]);
    return value;
  };
  for (auto const group : sample_) {
    auto const* const range = at(place_of(group, grid_));
    if (!range || std::abs(number(range->begin - block.address) - expected(group)) > 0.5) return irregular();
    out.span_bytes = std::max(out.span_bytes, number(range->end - range->begin));
  }
  out.touched_bytes = std::min(out.touched_bytes > 0 ? out.touched_bytes : out.span_bytes, out.span_bytes);
  if (!all) return out;
  double before = 0, behind = out.span_bytes;
  for (auto const& range : touched.groups) {
    auto const begin = expected(range.group);
    before = std::min(before, number(range.begin - block.address) - begin);
    behind = std::max(behind, number(range.end - block.address) - begin);
  }
  if (behind - before > widest * out.span_bytes) return irregular();
  out.first += before;
  out.span_bytes = behind - before;
  return out;
}

}  // namespace kernelcast::attach
