// What the work-groups of a launch read and write of each buffer, as a function of their place in the grid.
//
// Method: an observer notes, for each group that runs, the first and the last byte that it touches of each block of
// memory. These are affine in the group's coordinates, or they are not: the function goes through the corners of the
// grid's interior; groups at the rim may touch less (guards, borders) and do not count where there are others. Where
// all groups have run its span is widened to what each of them touches, so that it is never too small.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "emulator/emu.hpp"
#include "emulator/observe/footprint.hpp"
#include "models/graph/recording.hpp"

namespace kernelcast::attach {

class GroupRanges final : public emu::Observer {
 public:
  struct Block {
    std::uint64_t address = 0, bytes = 0;
  };
  using FindBlock = std::function<Block(std::uint64_t address)>;  // that holds it; of no bytes: of no interest

  GroupRanges(emu::Dim3 grid, FindBlock find);

  // The groups that the function goes through, linear, ascending: these have to run.
  std::vector<std::uint64_t> const& sample() const { return sample_; }

  // By address, reads before writes. `all`: all groups have run. The accesses' buffers are not set.
  struct Found {
    Block block;
    graph::Access access;
  };
  std::vector<Found> accesses(bool all) const;
  // The addresses from the first to behind the last byte of a block that any group has written; that has been.
  std::pair<std::uint64_t, std::uint64_t> written(std::uint64_t block_address) const;

  void group_begin(std::uint64_t group) override;
  void group_end() override;
  void memory(emu::MemoryAccess const&) override;
  std::unique_ptr<emu::Observer> fork() const override;
  void join(emu::Observer const&) override;

 private:
  using Key = std::pair<std::uint64_t, bool>;  // address of the block, whether it is written
  struct Range {
    std::uint64_t group = 0, begin = ~std::uint64_t{0}, end = 0;  // addresses
  };
  struct Touched {
    std::vector<Range> groups;
    Range now;                                           // of the group that runs
    std::map<std::uint64_t, emu::Footprint> footprints;  // of the groups of the sample
  };

  Block const& block_of(std::uint64_t address);
  void add(Block const&, bool write, std::uint64_t begin, std::uint64_t end);
  void mark(emu::MemoryAccess const&, bool write);
  graph::Access fit(Key const&, Touched const&, bool all) const;

  emu::Dim3 grid_;
  FindBlock find_;
  std::vector<std::uint64_t> sample_;
  std::array<std::array<std::uint64_t, 2>, 3> ends_{};  // of the interior along each axis
  std::uint64_t group_ = 0;
  bool marks_ = false;  // this group is of the sample
  std::map<std::uint64_t, Block> blocks_;
  Block last_;
  std::map<Key, Touched> touched_;
  std::array<std::pair<std::uint64_t, Touched*>, 2> latest_{};  // read and written
};

}  // namespace kernelcast::attach
