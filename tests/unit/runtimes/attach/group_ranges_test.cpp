// Ranges of groups: closed forms, and every byte that a group touches lies in what is said of it.
#include "runtimes/attach/group_ranges.hpp"

#include <random>

#include "catch.hpp"

using namespace kernelcast;
using attach::GroupRanges;

namespace {

constexpr std::uint64_t base = 0x10000, size = 1 << 20;  // of a block; the next begins at twice `base`, and so on

GroupRanges::Block find(std::uint64_t address) {
  if (address < base || address >= base + size) return {};
  return {base, size};
}

// One access of a warp: addresses by lane, as the emulator tells it, with steps where they hold.
void access(GroupRanges& ranges, std::array<std::uint64_t, 32> const& addresses, std::uint8_t bytes,
            emu::Direction direction, std::uint32_t mask = ~0U) {
  std::array<std::uint32_t, 32> offsets{};
  for (std::size_t l = 0; l < 32; ++l) offsets[l] = static_cast<std::uint32_t>(addresses[l] - addresses[0]);
  std::array<std::uint32_t, 2> steps{};
  for (std::size_t h = 0; h < 2; ++h) {
    steps[h] = offsets[16 * h + 1] - offsets[16 * h];
    for (std::size_t i = 0; i < 16; ++i)
      if (offsets[16 * h + i] != offsets[16 * h] + static_cast<std::uint32_t>(i) * steps[h])
        steps[h] = emu::MemoryAccess::no_step;
  }
  emu::MemoryAccess event;
  event.direction = direction;
  event.bytes_per_lane = bytes;
  event.base = addresses[0];
  event.offsets = offsets.data();
  event.steps = steps.data();
  event.lanes.masks = &mask;
  event.lanes.warps = 1;
  ranges.memory(event);
}

std::array<std::uint64_t, 32> row(std::uint64_t begin, std::uint64_t stride) {
  std::array<std::uint64_t, 32> out{};
  for (std::size_t l = 0; l < 32; ++l) out[l] = begin + stride * l;
  return out;
}

}  // namespace

TEST_CASE("rows of groups, and their borders that end early") {
  // Group g reads floats 32 g - 1 to 32 g + 32 of 0 .. 319, and writes 32 g to 32 g + 31.
  GroupRanges ranges({10, 1, 1}, find);
  for (std::uint64_t g = 0; g < 10; ++g) {
    ranges.group_begin(g);
    for (int const shift : {-1, 0, 1}) {
      auto lanes = row(base + 128 * g, 4);
      std::uint32_t mask = 0;
      for (std::size_t l = 0; l < 32; ++l) {
        auto const element = static_cast<int>(32 * g + l) + shift;
        if (element >= 0 && element < 320) mask |= 1U << l;
        lanes[l] = base + 4 * static_cast<std::uint64_t>(std::max(element, 0));
      }
      access(ranges, lanes, 4, emu::Direction::load, mask);
    }
    access(ranges, row(base + 128 * g, 4), 4, emu::Direction::store);
    ranges.group_end();
  }
  auto const found = ranges.accesses(true);
  REQUIRE(found.size() == 2);
  auto const& read = found[0].access;
  CHECK(!read.write);
  CHECK(read.regular);
  CHECK(read.first == -4);
  CHECK(read.step == std::array<double, 3>{128, 0, 0});
  CHECK(read.span_bytes == 136);
  auto const& write = found[1].access;
  CHECK(write.write);
  CHECK(write.first == 0);
  CHECK(write.span_bytes == 128);
  CHECK(write.touched_bytes == 128);
  CHECK(ranges.written(base) == std::pair{base, base + 1280});
}

TEST_CASE("a group that reads elsewhere than its place says makes the access irregular") {
  for (bool const all : {false, true}) {
    GroupRanges ranges({9, 1, 1}, find);
    for (std::uint64_t g = 0; g < 9; ++g) {
      ranges.group_begin(g);
      access(ranges, row(base + 4096 * (g * g % 7), 4), 4, emu::Direction::load);
      ranges.group_end();
    }
    auto const found = ranges.accesses(all).front().access;
    // Of all groups the range is known, of some it is the whole buffer.
    CHECK(found.regular == all);
    CHECK(found.span_bytes == (all ? 4096 * 4 + 128.0 : size));
    CHECK(found.step == std::array<double, 3>{});
  }
}

TEST_CASE("lanes of one access in memory of several kinds") {
  GroupRanges ranges({1, 1, 1}, find);
  ranges.group_begin(0);
  auto lanes = row(base + 64, 4);
  for (std::size_t l = 8; l < 16; ++l) lanes[l] = base + 2 * size + 4 * l;  // unused
  lanes[20] = base + 512;
  access(ranges, lanes, 4, emu::Direction::atomic);
  ranges.group_end();
  auto const found = ranges.accesses(true);
  REQUIRE(found.size() == 2);  // read and written
  for (auto const& [block, access] : found) {
    CHECK(access.first == 64);
    CHECK(access.span_bytes == 512 + 4 - 64);
  }
}

TEST_CASE("what a group touches lies within what is said of it") {
  std::mt19937 random(7);
  auto const up_to = [&](std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>(0, most)(random); };
  for (int round = 0; round < 200; ++round) {
    emu::Dim3 const grid{static_cast<std::uint32_t>(1 + up_to(6)), static_cast<std::uint32_t>(1 + up_to(4)), 1};
    std::uint64_t const step_x = 64 * up_to(4), step_y = 1024 * up_to(3), jitter = round % 3 ? 0 : 4 * up_to(40);
    GroupRanges ranges(grid, find);
    std::map<std::uint64_t, std::vector<std::uint64_t>> touched;
    for (std::uint64_t g = 0; g < grid.count(); ++g) {
      ranges.group_begin(g);
      for (int k = 0; k < 3; ++k) {
        auto const lanes =
            row(base + step_x * (g % grid.x) + step_y * (g / grid.x) + 4 * up_to(jitter / 4) + 256, 4 * (1 + k));
        auto const mask = static_cast<std::uint32_t>(up_to(~0U));
        access(ranges, lanes, 4, emu::Direction::load, mask);
        for (std::size_t l = 0; l < 32; ++l)
          if (mask >> l & 1) touched[g].push_back(lanes[l] - base);
      }
      ranges.group_end();
    }
    for (auto const& [block, access] : ranges.accesses(true))
      for (auto const& [g, bytes] : touched) {
        double const begin = access.first + access.step[0] * static_cast<double>(g % grid.x) +
                             access.step[1] * static_cast<double>(g / grid.x);
        for (auto const byte : bytes) {
          CHECK(static_cast<double>(byte) >= begin - 1e-6);
          CHECK(static_cast<double>(byte) + 4 <= begin + access.span_bytes + 1e-6);
        }
      }
  }
}
