#include "intercept/accesses.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "emu/observe/footprint.hpp"

namespace kernelcast::intercept {

namespace {

using Place = std::array<std::uint64_t, 3>;

// What one group does with one buffer in one direction.
struct Touched {
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;  // bytes of the buffer
  emu::Footprint footprint;
};

struct BufferRange {
  unsigned argument = 0;
  std::uint64_t address = 0, bytes = 0;
};

class Ranges final : public emu::Observer {
 public:
  using Key = std::pair<unsigned, bool>;  // argument, whether it writes
  explicit Ranges(std::vector<BufferRange> buffers) : buffers_(std::move(buffers)) {}

  void group_begin(std::uint64_t group) override { current_ = &of_group_[group]; }
  void memory(emu::MemoryAccess const& access) override {
    if (access.space != ptx::StateSpace::global && access.space != ptx::StateSpace::tex) return;
    for (std::uint32_t w = 0; w < access.lanes.warps; ++w)
      for (std::uint32_t mask = access.lanes.masks[w]; mask; mask &= mask - 1) {
        auto const lane = emu::lanes_per_warp * w + static_cast<std::uint32_t>(std::countr_zero(mask));
        std::uint64_t const address = access.base + access.offsets[lane];
        if (access.direction != emu::Direction::store) add(address, access.bytes_per_lane, false);
        if (access.direction != emu::Direction::load) add(address, access.bytes_per_lane, true);
      }
  }
  std::unique_ptr<emu::Observer> fork() const override { return std::make_unique<Ranges>(buffers_); }
  void join(emu::Observer const& other) override {
    auto& theirs = const_cast<Ranges&>(dynamic_cast<Ranges const&>(other)).of_group_;
    of_group_.merge(theirs);
  }
  bool asks_for_order() const override { return true; }

  Touched const* of(std::uint64_t group, Key const& key) const {
    auto const at = of_group_.find(group);
    if (at == of_group_.end()) return nullptr;
    auto const found = at->second.find(key);
    return found == at->second.end() ? nullptr : &found->second;
  }
  std::set<Key> keys() const {
    std::set<Key> out;
    for (auto const& [group, by_key] : of_group_)
      for (auto const& [key, touched] : by_key) out.insert(key);
    return out;
  }
  std::vector<BufferRange> const& buffers() const { return buffers_; }

 private:
  void add(std::uint64_t address, std::uint64_t bytes, bool write) {
    for (auto const& buffer : buffers_) {
      if (address < buffer.address || address >= buffer.address + buffer.bytes) continue;
      auto& touched = (*current_)[{buffer.argument, write}];
      touched.begin = std::min(touched.begin, address - buffer.address);
      touched.end = std::max(touched.end, address - buffer.address + bytes);
      for (std::uint64_t sector = address >> 5; sector <= (address + bytes - 1) >> 5; ++sector)
        touched.footprint.mark(sector);
      return;
    }
  }

  std::vector<BufferRange> buffers_;
  std::map<std::uint64_t, std::map<Key, Touched>> of_group_;
  std::map<Key, Touched>* current_ = nullptr;
};

class RangeWatcher final : public launch::Watcher {
 public:
  emu::Observer* begin(launch::LaunchView const& view) override {
    auto const& plan = view.buffers.plan();
    auto const& arguments = plan.calls.front().arguments;
    std::vector<BufferRange> buffers;
    std::set<std::size_t> seen;
    for (unsigned i = 0; i < arguments.size(); ++i) {
      bool const image = arguments[i].kind == launch::Argument::Kind::image;
      if (!image && arguments[i].kind != launch::Argument::Kind::buffer) continue;
      auto const buffer = image ? plan.images[arguments[i].buffer].buffer : arguments[i].buffer;
      if (seen.insert(buffer).second)
        buffers.push_back({i, view.buffers.address(buffer), plan.buffers[buffer].bytes()});
    }
    ranges.emplace(std::move(buffers));
    return &*ranges;
  }
  void end(launch::LaunchView const&) override {}
  std::optional<Ranges> ranges;
};

// The indices along an axis whose groups are looked at.
std::vector<std::uint64_t> ends_of(std::uint64_t size) {
  if (size == 1) return {0};
  if (size < 4) return {0, size - 1};
  return {1, size - 2};
}

struct Sample {
  std::array<std::vector<std::uint64_t>, 3> ends;
  Place middle{};
  Place groups{1, 1, 1};
  std::uint64_t linear(Place const& at) const { return at[0] + groups[0] * (at[1] + groups[1] * at[2]); }
  std::vector<Place> corners() const {
    std::vector<Place> out;
    for (auto const z : ends[2])
      for (auto const y : ends[1])
        for (auto const x : ends[0]) out.push_back({x, y, z});
    return out;
  }
};

Sample sample_of(launch::Plan const& plan) {
  auto const& call = plan.calls.front();
  Sample out;
  auto const& global = call.global.size;
  auto const local = call.local ? call.local->size : emu::Dim3{1, 1, 1};
  out.groups = {(global.x + local.x - 1) / local.x, (global.y + local.y - 1) / local.y,
                (global.z + local.z - 1) / local.z};
  for (std::size_t i = 0; i < 3; ++i) {
    out.ends[i] = ends_of(out.groups[i]);
    out.middle[i] = out.groups[i] / 2;
  }
  return out;
}

// The affine function through the corners, where all groups looked at lie on it.
graph::Access fit(Ranges const& ranges, Ranges::Key const& key, Sample const& sample) {
  auto const buffer = std::find_if(ranges.buffers().begin(), ranges.buffers().end(),
                                   [&](BufferRange const& b) { return b.argument == key.first; });
  graph::Access out;
  out.buffer = key.first;
  out.write = key.second;
  auto const of = [&](Place const& at) { return ranges.of(sample.linear(at), key); };
  auto const value = [](std::uint64_t byte) { return static_cast<double>(byte); };
  auto const irregular = [&] {
    out.regular = false;
    out.first = 0;
    out.step = {};
    out.span_bytes = value(buffer->bytes);
    out.touched_bytes = out.touched_bytes > 0 ? out.touched_bytes : out.span_bytes;
    return out;
  };
  if (auto const* const middle = of(sample.middle)) out.touched_bytes = 32 * value(middle->footprint.sectors());
  Place const origin{sample.ends[0].front(), sample.ends[1].front(), sample.ends[2].front()};
  auto const* const base = of(origin);
  if (!base) return irregular();
  out.first = value(base->begin);
  out.span_bytes = value(base->end - base->begin);
  out.touched_bytes = std::min(out.touched_bytes > 0 ? out.touched_bytes : out.span_bytes, out.span_bytes);
  for (std::size_t i = 0; i < 3; ++i) {
    if (sample.ends[i].size() < 2) continue;
    Place other = origin;
    other[i] = sample.ends[i].back();
    auto const* const there = of(other);
    if (!there) return irregular();
    out.step[i] = (value(there->begin) - value(base->begin)) / value(other[i] - origin[i]);
  }
  for (std::size_t i = 0; i < 3; ++i) out.first -= out.step[i] * value(origin[i]);
  auto places = sample.corners();
  places.push_back(sample.middle);
  for (auto const& place : places) {
    auto const* const touched = of(place);
    if (!touched) return irregular();
    double expected = out.first;
    for (std::size_t i = 0; i < 3; ++i) expected += out.step[i] * value(place[i]);
    if (std::abs(value(touched->begin) - expected) > 0.5) return irregular();
    out.span_bytes = std::max(out.span_bytes, value(touched->end - touched->begin));
  }
  return out;
}

}  // namespace

LaunchAccesses find_accesses(launch::Plan plan, launch::RunOptions const& options) {
  auto const sample = sample_of(plan);
  RangeWatcher watcher;
  auto choice = options;
  choice.emit = launch::Emit::kernel;
  choice.watcher = &watcher;
  choice.threads = 1;
  choice.groups = {};
  std::set<std::uint64_t> groups{sample.linear(sample.middle)};
  for (auto const& corner : sample.corners()) groups.insert(sample.linear(corner));
  choice.groups.only.assign(groups.begin(), groups.end());
  launch::run(std::move(plan), choice);
  LaunchAccesses out{sample.groups, {}};
  if (watcher.ranges)
    for (auto const& key : watcher.ranges->keys()) out.accesses.push_back(fit(*watcher.ranges, key, sample));
  return out;
}

}  // namespace kernelcast::intercept
