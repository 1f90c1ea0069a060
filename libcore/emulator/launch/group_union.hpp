// How much distinct memory many groups of a grid touch together, from one in the middle and its next neighbours.
//
// Problem: groups far from each other touch the same memory (the planes and rows around a cell, where cells are
// numbered through), which next neighbours do not show; and how many groups lie between them decides whether a cache
// still holds it.
// Method: each buffer by itself. Where both neighbours along an axis touch what the middle does, moved by as many
// sectors, the groups along it do so all the way: a list of intervals is joined with itself, moved, and doubles. Where
// they do not, what is touched is split by the axes of the grid that it depends on, by inclusion and exclusion, and
// each part grows with the different coordinates. Neither becomes more than the buffer.
// Limits: the whole grid is taken to be like its middle. Beyond max_intervals nothing more is taken to be shared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emulator/emu.hpp"
#include "emulator/observe/footprint.hpp"
#include "records/table/by_axes.hpp"

namespace kernelcast::launch {

using record::Axes, record::ByAxes, record::all_axes, record::within;

// What depends on the coordinates of exactly these axes. `unions` has, for each subset S of `axes`, the size of what
// all groups touch that differ from the middle along S alone: unions[S] = sum over A of parts[A] * 2^|A and S|.
ByAxes parts_of(ByAxes const& unions, Axes axes);

class GroupUnion {
 public:
  static constexpr std::size_t max_intervals = 1u << 14;

  // What some groups touch: by subset of the axes that of the group after the middle along all of these; by axis that
  // of the group before it, where there is one.
  struct Touched {
    std::array<emu::Footprint, all_axes + 1> after;
    std::array<std::optional<emu::Footprint>, 3> before;
  };
  // `axes`: those longer than one group. `memory`: where the buffers are.
  GroupUnion(emu::Dim3 grid, Axes axes, Touched const&, emu::Memory const&);

  // Sectors that so many groups, one after the other in the grid, touch.
  double of(double groups) const;
  double of(std::span<std::uint64_t const> groups) const;  // linear, ascending
  // Element k: of 2^k groups, the last: of all.
  std::vector<double> doubling() const;

 private:
  struct Interval {
    std::int64_t begin = 0, end = 0;  // sectors
  };
  struct Intervals {
    std::vector<Interval> list;  // ascending, apart
    double times = 1;            // so often, without anything in common
    double sectors() const;
  };
  struct Buffer {
    std::int64_t sectors = 0;
    bool moves = false;
    std::array<std::int64_t, 3> by{};      // sectors from a group to the next one along an axis
    std::array<double, 3> grows{1, 1, 1};  // what the next one adds over what the middle, moved, would
    Intervals middle;
    ByAxes parts{};
  };

  template <class Each>
  static void for_each_run(emu::Footprint const&, emu::Memory const&, Each each);
  static double covered(std::vector<Interval>&);
  static Intervals joined(Intervals const&, std::int64_t by);  // with itself, moved
  static Intervals along(Buffer const&, Intervals, std::int64_t by, std::uint64_t groups);
  static double overlap(std::vector<Interval> const& middle, std::int64_t by, std::vector<Interval> const& neighbour);
  bool find_move(Buffer&, std::vector<Interval> const& after, std::vector<Interval> const* before,
                 std::size_t axis) const;
  double of(Buffer const&, double groups) const;

  emu::Dim3 grid_;
  std::vector<Buffer> buffers_;
};

}  // namespace kernelcast::launch
