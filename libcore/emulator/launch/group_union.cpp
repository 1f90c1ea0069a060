#include "emulator/launch/group_union.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace kernelcast::launch {

namespace {

constexpr std::uint64_t sector_bytes = 32;
constexpr double max_distance = 0x1p60;                       // sectors, so that sums of three are integers
constexpr std::int64_t unknown_size = std::int64_t{1} << 32;  // sectors, of memory that is freed
constexpr double min_overlap = 0.6;  // of a neighbour with the middle, moved, to be taken as just moved

std::array<std::uint64_t, 3> sizes(emu::Dim3 const& grid) {
  return {grid.x, grid.y, grid.z};
}

}  // namespace

ByAxes parts_of(ByAxes const& unions, Axes axes) {
  auto const sign = [](Axes a, Axes b) { return std::popcount(a ^ b) % 2 ? -1.0 : 1.0; };
  ByAxes differences{}, parts{};  // differences[T] = sum of parts[A] over A that hold T
  for (Axes t = 0; t <= axes; ++t)
    for (Axes s = 0; s <= t; ++s)
      if (within(t, axes) && within(s, t)) differences[t] += sign(t, s) * unions[s];
  for (Axes a = 0; a <= axes; ++a)
    for (Axes t = a; t <= axes; ++t)
      if (within(t, axes) && within(a, t)) parts[a] += sign(t, a) * differences[t];
  for (double& part : parts) part = std::max(part, 0.0);
  // Where neighbours do not touch as much as the middle, the parts are shares of what that touches.
  double sum = 0;
  for (double const part : parts) sum += part;
  if (sum > 0 && unions[0] > 0)
    for (double& part : parts) part *= unions[0] / sum;
  return parts;
}

double GroupUnion::Intervals::sectors() const {
  std::int64_t sum = 0;
  for (auto const& one : list) sum += one.end - one.begin;
  return times * static_cast<double>(sum);
}

// Sectors of intervals that may overlap, in any order; sorts them.
double GroupUnion::covered(std::vector<Interval>& all) {
  std::ranges::sort(all, {}, &Interval::begin);
  std::int64_t reached = std::numeric_limits<std::int64_t>::min(), sum = 0;
  for (auto const& one : all) {
    sum += std::max<std::int64_t>(0, one.end - std::max(reached, one.begin));
    reached = std::max(reached, one.end);
  }
  return static_cast<double>(sum);
}

GroupUnion::Intervals GroupUnion::joined(Intervals const& all, std::int64_t by) {
  Intervals out{{}, all.times};
  auto const add = [&](Interval const& one) {
    if (!out.list.empty() && one.begin <= out.list.back().end)
      out.list.back().end = std::max(out.list.back().end, one.end);
    else
      out.list.push_back(one);
  };
  auto const& list = all.list;
  for (std::size_t i = 0, j = 0; i < list.size() || j < list.size();) {
    if (j == list.size() || (i < list.size() && list[i].begin <= list[j].begin + by))
      add(list[i++]);
    else
      add({list[j].begin + by, list[j].end + by}), ++j;
  }
  return out;
}

// Groups that are farther moved than the buffer is long do not count: they do not lie in it.
GroupUnion::Intervals GroupUnion::along(Buffer const& buffer, Intervals all, std::int64_t by, std::uint64_t groups) {
  if (by == 0) return all;
  groups = std::min(groups, static_cast<std::uint64_t>(buffer.sectors / std::abs(by)) + 1);
  for (std::uint64_t done = 1; done < groups;) {
    auto const more = std::min(done, groups - done);
    if (all.list.size() > max_intervals) {
      all.times *= static_cast<double>(groups) / static_cast<double>(done);
      break;
    }
    all = joined(all, by * static_cast<std::int64_t>(more));
    done += more;
  }
  return all;
}

// Of the larger of both, the part that the middle, moved, and a neighbour have in common.
double GroupUnion::overlap(std::vector<Interval> const& middle, std::int64_t by,
                           std::vector<Interval> const& neighbour) {
  std::int64_t common = 0;
  for (std::size_t i = 0, j = 0; i < middle.size() && j < neighbour.size();) {
    auto const begin = std::max(middle[i].begin + by, neighbour[j].begin);
    auto const end = std::min(middle[i].end + by, neighbour[j].end);
    common += std::max<std::int64_t>(0, end - begin);
    middle[i].end + by < neighbour[j].end ? ++i : ++j;
  }
  auto const size = [](std::vector<Interval> const& list) { return Intervals{list}.sectors(); };
  double const larger = std::max(size(middle), size(neighbour));
  return larger > 0 ? static_cast<double>(common) / larger : 1;
}

bool GroupUnion::find_move(Buffer& buffer, std::vector<Interval> const& after, std::vector<Interval> const* before,
                           std::size_t axis) const {
  auto const& middle = buffer.middle.list;
  auto& by = buffer.by[axis];
  if (middle.empty() || after.empty()) return middle.empty() && after.empty() && (!before || before->empty());
  double best = 0;
  for (auto const candidate : {after.front().begin - middle.front().begin, after.back().end - middle.back().end,
                               after[after.size() / 2].begin - middle[middle.size() / 2].begin}) {
    double const found = overlap(middle, candidate, after);
    if (found > best) best = found, by = candidate;
  }
  if (before) best = std::min(best, overlap(middle, -by, *before));
  if (by == 0) return best >= 1;  // what stays in part is a table
  if (best < min_overlap || std::abs(by) > buffer.sectors) return false;
  if (static_cast<double>(std::abs(by)) * static_cast<double>(sizes(grid_)[axis]) > max_distance) return false;
  // Where it is moved by part of a sector, by what the neighbour adds in truth.
  auto both = middle;
  both.insert(both.end(), after.begin(), after.end());
  double const alone = buffer.middle.sectors(), moved = joined(buffer.middle, by).sectors() - alone;
  buffer.grows[axis] = moved > 0 ? std::clamp((covered(both) - alone) / moved, min_overlap, 1 / min_overlap) : 1;
  return true;
}

// Calls each(buffer or null, begin, end) for runs of sectors, ascending.
template <class Each>
void GroupUnion::for_each_run(emu::Footprint const& footprint, emu::Memory const& memory, Each each) {
  emu::Memory::Buffer const* in = nullptr;
  footprint.for_each([&](std::uint64_t first, std::uint64_t bits) {
    for (unsigned at = 0; at < 64 && bits >> at;) {
      at += static_cast<unsigned>(std::countr_zero(bits >> at));
      auto const length = static_cast<unsigned>(std::countr_one(bits >> at));
      for (auto begin = first + at, end = begin + length; begin < end;) {
        auto const address = begin * sector_bytes;
        if (!in || address - in->address >= in->size) in = memory.find(address);
        auto const stop = in ? std::min(end, (in->address + in->size + sector_bytes - 1) / sector_bytes) : end;
        each(in, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(stop));
        begin = stop;
      }
      at += length;
    }
  });
}

GroupUnion::GroupUnion(emu::Dim3 grid, Axes axes, Touched const& touched, emu::Memory const& memory) : grid_(grid) {
  struct Corners {
    std::array<std::vector<Interval>, all_axes + 1> after;
    std::array<std::vector<Interval>, 3> before;
  };
  std::map<emu::Memory::Buffer const*, Corners> found;
  auto const split = [&](emu::Footprint const& footprint, auto list_of) {
    for_each_run(footprint, memory, [&](emu::Memory::Buffer const* in, std::int64_t begin, std::int64_t end) {
      std::vector<Interval>& list = list_of(found[in]);
      if (!list.empty() && list.back().end == begin)
        list.back().end = end;
      else
        list.push_back({begin, end});
    });
  };
  for (Axes s = 0; s <= axes; ++s)
    if (within(s, axes)) split(touched.after[s], [s](Corners& c) -> auto& { return c.after[s]; });
  for (std::size_t i = 0; i < 3; ++i)
    if (touched.before[i]) split(*touched.before[i], [i](Corners& c) -> auto& { return c.before[i]; });

  for (auto& [in, corners] : found) {
    Buffer& buffer = buffers_.emplace_back();
    buffer.sectors = in ? static_cast<std::int64_t>((in->address + in->size + sector_bytes - 1) / sector_bytes -
                                                    in->address / sector_bytes)
                        : unknown_size;
    buffer.middle.list = std::move(corners.after[0]);
    buffer.moves = true;
    for (std::size_t i = 0; i < 3; ++i)
      if (axes >> i & 1)
        buffer.moves = buffer.moves && find_move(buffer, corners.after[std::size_t{1} << i],
                                                 touched.before[i] ? &corners.before[i] : nullptr, i);
    if (buffer.moves) continue;
    corners.after[0] = buffer.middle.list;
    ByAxes unions{};
    for (Axes s = 0; s <= axes; ++s) {
      if (!within(s, axes)) continue;
      std::vector<Interval> all;
      for (Axes t = 0; t <= s; ++t)
        if (within(t, s)) all.insert(all.end(), corners.after[t].begin(), corners.after[t].end());
      unions[s] = covered(all);
    }
    buffer.parts = parts_of(unions, axes);
  }
}

double GroupUnion::of(Buffer const& buffer, double groups) const {
  auto const most = static_cast<double>(buffer.sectors);
  if (!buffer.moves) {
    std::array<double, 3> const grid{static_cast<double>(grid_.x), static_cast<double>(grid_.y),
                                     static_cast<double>(grid_.z)};
    return std::min(most, record::union_of(buffer.parts, grid, groups));
  }
  auto all = buffer.middle;
  double sum = all.sectors(), before = sum;  // `sum` stands for `before` intervals
  for (std::size_t i = 0; i < 3; ++i) {
    auto const size = sizes(grid_)[i];
    double const along_it = std::min(groups, static_cast<double>(size));
    auto const whole = static_cast<std::uint64_t>(along_it);
    auto more = along(buffer, all, buffer.by[i], whole);
    double after = more.sectors();
    if (double const part = along_it - static_cast<double>(whole); part > 0)  // between so many rows and one more
      after += part * (along(buffer, all, buffer.by[i], whole + 1).sectors() - after);
    sum += before > 0 ? (after - before) * buffer.grows[i] * sum / before : 0;
    if (groups <= static_cast<double>(size)) break;
    groups /= static_cast<double>(size);
    all = std::move(more);
    before = after;
  }
  return std::min(most, sum);
}

double GroupUnion::of(double groups) const {
  double sum = 0;
  for (auto const& buffer : buffers_) sum += of(buffer, groups);
  return sum;
}

double GroupUnion::of(std::span<std::uint64_t const> groups) const {
  constexpr std::size_t max_pieces = 1u << 20;  // more groups are taken to lie one after the other
  std::size_t pieces = 1;
  for (auto const& buffer : buffers_) pieces += buffer.middle.list.size();
  if (groups.size() > max_pieces / pieces) return of(static_cast<double>(groups.size()));
  std::vector<std::array<std::uint64_t, 3>> at;
  for (auto const group : groups) at.push_back({group % grid_.x, group / grid_.x % grid_.y, group / grid_.x / grid_.y});
  double sum = 0;
  for (auto const& buffer : buffers_) {
    double touched = 0;
    if (buffer.moves) {
      std::set<std::int64_t> moved;  // groups that touch the same are one
      for (auto const& one : at) {
        std::int64_t by = 0;
        for (std::size_t i = 0; i < 3; ++i) by += buffer.by[i] * static_cast<std::int64_t>(one[i]);
        moved.insert(by);
      }
      std::vector<Interval> all;
      for (auto const by : moved)
        for (auto const& one : buffer.middle.list) all.push_back({one.begin + by, one.end + by});
      touched = covered(all);
    } else {
      for (Axes a = 0; a <= all_axes; ++a) {
        if (buffer.parts[a] <= 0) continue;
        std::set<std::array<std::uint64_t, 3>> different;
        for (auto one : at) {
          for (std::size_t i = 0; i < 3; ++i)
            if (!(a >> i & 1)) one[i] = 0;
          different.insert(one);
        }
        touched += buffer.parts[a] * static_cast<double>(different.size());
      }
    }
    sum += std::min(touched, static_cast<double>(buffer.sectors));
  }
  return sum;
}

std::vector<double> GroupUnion::doubling() const {
  std::vector<double> out;
  auto const all = static_cast<double>(grid_.count());
  for (double groups = 1;; groups *= 2) {
    out.push_back(of(std::min(groups, all)));
    if (groups >= all) return out;
  }
}

}  // namespace kernelcast::launch
