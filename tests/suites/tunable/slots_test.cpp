// Convolution and dedispersion with tiles of 2, 3 and 4: the host's results, and issue slots of AMD's machine code in
// closed form. Tiles of 3 do not divide the sizes.
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "catch.hpp"
#include "emulator/launch/launch.hpp"
#include "kernels/frontend/toolchain.hpp"
#include "launches.hpp"
#include "plans.hpp"

using namespace kernelcast;
using record::Pipe;

namespace {

// The sets `small` of the launch files.
constexpr int width = 256, height = 128, filter = 3;
constexpr int samples = 512, measures = 64, channels = 8;
constexpr double pixels = width * height, sums = samples * measures;

launch::Plan plan_of(std::string const& kernel, int tile) {
  return launch::read_launch_file(fmt::format("{}/bench-suites/tunable/{}.toml", KERNELCAST_SOURCE_DIR, kernel), {},
                                  {"small", fmt::format("tile{}", tile)});
}

record::Kernel row(std::string const& kernel, int tile, std::string const& target) {
  auto options = with_groups("all");
  options.machine_targets = {target};
  return launch::run(plan_of(kernel, tile), options).rows.at(0);
}

double all_slots(record::Kernel const& row) {
  double all = 0;
  for (std::size_t p = 0; p < record::names_of<Pipe>.size(); ++p) all += row.slots[static_cast<Pipe>(p)].value_or(0);
  return all;
}

}  // namespace

TEST_CASE("convolution: the host's sums, whatever the tile") {
  if (!has_clang()) SKIP_BECAUSE("no clang-19 or libclc-19");
  for (int const tile : {2, 3, 4}) {
    auto const plan = plan_of("convolution", tile);
    auto const before = suites::initial_buffers(plan), after = suites::emulate(plan, 1);
    auto const in = suites::elements<float>(before, "in"), weights = suites::elements<float>(before, "weights"),
               out = suites::elements<float>(after, "out");
    REQUIRE(out.size() == static_cast<std::size_t>(pixels));
    std::size_t wrong = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        double sum = 0;
        for (int j = 0; j < filter; ++j)
          for (int i = 0; i < filter; ++i)
            sum += double{weights[static_cast<std::size_t>(j * filter + i)]} *
                   in[static_cast<std::size_t>((y + j) * (width + filter - 1) + x + i)];
        // All terms are positive: each of nine roundings is half a unit of the sum at most.
        double const bound = 9 * 0x1p-24 * sum;
        wrong += std::abs(out[static_cast<std::size_t>(y * width + x)] - sum) > bound;
      }
    INFO("tile " << tile);
    CHECK(wrong == 0);
  }
}

TEST_CASE("dedispersion: the host's sums, whatever the tile") {
  if (!has_clang()) SKIP_BECAUSE("no clang-19 or libclc-19");
  for (int const tile : {2, 3, 4}) {
    auto const plan = plan_of("dedispersion", tile);
    auto const before = suites::initial_buffers(plan), after = suites::emulate(plan, 1);
    auto const in = suites::elements<unsigned char>(before, "in");
    auto const delays = suites::elements<float>(before, "delays"), out = suites::elements<float>(after, "out");
    REQUIRE(out.size() == static_cast<std::size_t>(sums));
    std::size_t wrong = 0;
    for (int m = 0; m < measures; ++m)
      for (int s = 0; s < samples; ++s) {
        int sum = 0;  // exact in floats, too
        for (int c = 0; c < channels; ++c)
          sum += in[static_cast<std::size_t>(
              c * (samples + measures) + s +
              static_cast<int>(static_cast<float>(m) * delays[static_cast<std::size_t>(c)]))];
        wrong += out[static_cast<std::size_t>(m * samples + s)] != static_cast<float>(sum);
      }
    INFO("tile " << tile);
    CHECK(wrong == 0);
  }
}

TEST_CASE("convolution on AMD: multiply-adds and accesses of each element") {
  if (!has_clang()) SKIP_BECAUSE("no clang-19 or libclc-19");
  for (auto const& [target, lanes] : {std::pair{"gfx90a", 64.0}, {"gfx1032", 32.0}, {"gfx1101", 32.0}})
    for (int const tile : {2, 3, 4}) {
      auto const counted = row("convolution", tile, target);
      INFO(target << ", tile " << tile);
      double const products = filter * filter, fp32 = *counted.slots[Pipe::fp32] * lanes / pixels;
      // gfx90a has two products in a slot where it finds pairs, gfx1101 issues two at once.
      CHECK(fp32 <= products * 1.0001);
      CHECK(fp32 >= products / 2 * 0.9999);
      if (std::string_view(target) == "gfx1032") CHECK(fp32 == Approx(products));
      CHECK(*counted.slots[Pipe::memory] * lanes / pixels == Approx(products + 1));
    }
}

TEST_CASE("dedispersion on AMD: conversions and accesses of each sum") {
  if (!has_clang()) SKIP_BECAUSE("no clang-19 or libclc-19");
  for (auto const& [target, lanes] : {std::pair{"gfx90a", 64.0}, {"gfx1032", 32.0}, {"gfx1101", 32.0}})
    for (int const tile : {2, 3, 4}) {
      auto const counted = row("dedispersion", tile, target);
      INFO(target << ", tile " << tile);
      CHECK(*counted.slots[Pipe::memory] * lanes / sums == Approx(channels + 1));
      // Of each sample one, of each delay one: a delay is that of a tile's samples.
      double const least = channels + double{channels} / tile,
                   counted_ones = *counted.slots[Pipe::special] * lanes / sums;
      CHECK(counted_ones >= least * 0.9999);
      CHECK(counted_ones <= least * 1.2);  // also of lanes beyond the edge
    }
}

TEST_CASE("tiles that do not divide the input cost masks and branches") {
  if (!has_clang()) SKIP_BECAUSE("no clang-19 or libclc-19");
  for (std::string const kernel : {"convolution", "dedispersion"})
    for (std::string const target : {"gfx90a", "gfx1032", "gfx1101"}) {
      std::map<int, record::Kernel> rows;
      for (int const tile : {2, 3, 4}) rows.emplace(tile, row(kernel, tile, target));
      INFO(kernel << " on " << target);
      // Were it divided, a tile of 3 would lie between the other two.
      CHECK(all_slots(rows.at(4)) < all_slots(rows.at(2)));
      for (int const other : {2, 4}) {
        CHECK(all_slots(rows.at(3)) > all_slots(rows.at(other)));
        CHECK(*rows.at(3).slots[Pipe::scalar] > 2 * *rows.at(other).slots[Pipe::scalar]);
        CHECK(*rows.at(3).slots[Pipe::issue] > 2 * *rows.at(other).slots[Pipe::issue]);
        CHECK(*rows.at(3).slots[Pipe::memory] == Approx(*rows.at(other).slots[Pipe::memory]));
      }
    }
}
