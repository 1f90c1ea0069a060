// The loops over shadow memory against the rule for one cell, cell by cell, on random records; and cells of all sizes
// through whole kernels.
#include "emulator/check/cells.hpp"

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "emulator/check/check.hpp"
#include "emulator/check/order.hpp"
#include "kernels/ptx/parser.hpp"

using namespace kernelcast;
using namespace kernelcast::emu;

namespace {

constexpr std::uint32_t cells = 512;
std::mt19937_64 random_numbers{7};

std::uint64_t below(std::uint64_t bound) {
  return random_numbers() % bound;
}
Record at(std::uint64_t time) {
  return Record{time} << time_shift;
}

// A record of a time about the bounds, by work-items about those that access; often their own.
std::vector<Record> some_records(std::uint64_t times, Record own_item, std::uint64_t others) {
  std::vector<Record> records(cells);
  for (Record& r : records) {
    Record const one = below(others) ? own_item + below(16) : below(64);
    Record const other = below(others) ? one : below(64);
    r = below(8) ? at(below(times)) | below(8) << site_shift | below(8) << other_site_shift | other << other_shift | one
                 : 0;
  }
  return records;
}

Bounds some_bounds() {
  std::uint64_t const launch = 1 + below(8), group = launch + (below(2) ? below(8) : 0), floor = group + below(8);
  return {at(launch), at(group), at(floor)};
}

struct Case {
  Bounds bounds = some_bounds();
  Record item = below(32);
  // Mostly nothing that conflicts, or nearly everything.
  std::uint64_t times = below(2) ? 32 : (bounds.launch >> time_shift) + 1, others = below(2) ? 2 : 400;
  std::vector<Record> written = some_records(times, item, others), read = some_records(times, item, others);
  Record stamp = at(40) | Record{3} << site_shift | Record{3} << other_site_shift;
};

}  // namespace

TEST_CASE("reads anywhere are recorded as one after the other") {
  bool verdicts[2] = {};
  for (int trial = 0; trial < 20000; ++trial) {
    use_isa_level(isa_levels()[static_cast<std::size_t>(trial) % isa_levels().size()]);
    Case c;
    std::uint32_t offsets[16];
    std::uint32_t const log2 = static_cast<std::uint32_t>(below(3)), places = below(2) ? 6 : (cells - 8) >> log2;
    for (std::uint32_t& o : offsets) o = static_cast<std::uint32_t>(below(places) << log2) * 4;
    std::uint32_t const mask = below(2) ? 0xffff : static_cast<std::uint32_t>(1 + below(0xffff));
    bool const any_writes = below(2);
    std::vector<Record> expected = c.read;
    bool fine = true;
    for (std::uint32_t lane = 0; lane < 16; ++lane)
      for (std::uint32_t i = 0; mask >> lane & 1 && i < 1u << log2; ++i) {
        std::uint32_t const cell = (16 + offsets[lane]) / 4 + i;
        fine &= !any_writes || !stands_against(c.written[cell], c.item + lane, c.bounds);
        expected[cell] = after_read(expected[cell], c.stamp, c.item + lane, c.bounds);
      }
    Spread const s{c.stamp, static_cast<std::uint32_t>(c.item), mask, 16, offsets, 2, log2, c.bounds};
    REQUIRE(cell_loops().read_spread(any_writes ? c.written.data() : nullptr, c.read.data(), s) == fine);
    REQUIRE(c.read == expected);
    verdicts[fine] = true;
  }
  CHECK((verdicts[0] && verdicts[1]));
}

TEST_CASE("writes anywhere are recorded up to the first conflict") {
  int conflicts = 0, clean = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    use_isa_level(isa_levels()[static_cast<std::size_t>(trial) % isa_levels().size()]);
    Case c;
    std::uint32_t offsets[16];
    std::uint32_t const log2 = static_cast<std::uint32_t>(below(3)), places = below(4) ? (cells - 8) >> log2 : 6;
    for (std::uint32_t& o : offsets) o = static_cast<std::uint32_t>(below(places) << log2) * 4;
    std::uint32_t const mask = below(2) ? 0xffff : static_cast<std::uint32_t>(1 + below(0xffff));
    bool const any_reads = below(2);
    std::vector<Record> expected = c.written;
    std::uint32_t rest = mask;
    for (std::uint32_t lane = 0; lane < 16; ++lane) {
      if (!(mask >> lane & 1)) continue;
      std::uint32_t const cell = (16 + offsets[lane]) / 4;
      Record const mine = c.item + lane;
      bool fine = true;
      for (std::uint32_t i = cell; i < cell + (1u << log2); ++i)
        fine &=
            !stands_against(expected[i], mine, c.bounds) && !(any_reads && stands_against(c.read[i], mine, c.bounds));
      if (!fine) break;
      for (std::uint32_t i = cell; i < cell + (1u << log2); ++i) expected[i] = c.stamp | mine << other_shift | mine;
      rest &= ~(1u << lane);
    }
    Spread const s{c.stamp, static_cast<std::uint32_t>(c.item), mask, 16, offsets, 2, log2, c.bounds};
    REQUIRE(cell_loops().write_spread(c.written.data(), any_reads ? c.read.data() : nullptr, s) == rest);
    REQUIRE(c.written == expected);
    (rest ? conflicts : clean) += 1;
  }
  CHECK(conflicts > 1000);
  CHECK(clean > 1000);
}

TEST_CASE("runs of cells are recorded as one after the other") {
  int conflicts = 0, clean = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    use_isa_level(isa_levels()[static_cast<std::size_t>(trial) % isa_levels().size()]);
    Case c;
    std::uint32_t const log2 = static_cast<std::uint32_t>(below(3)), count = static_cast<std::uint32_t>(16 << below(3))
                                                                             << log2;
    bool const given = below(2), settles = below(2);
    Run const run{c.stamp, static_cast<std::uint32_t>(c.item), count, log2, settles, c.bounds};
    bool fine = true;
    std::vector<Record> written = c.written, read = c.read;
    for (std::uint32_t i = 0; i < count; ++i) {
      Record const mine = c.item + (i >> log2);
      fine &= !given || !stands_against(written[i], mine, c.bounds);
      read[i] = after_read(read[i], c.stamp, mine, c.bounds);
    }
    REQUIRE(cell_loops().read(given ? c.written.data() : nullptr, c.read.data(), run) == fine);
    // Where records may settle, those that name two readers may stay.
    for (std::uint32_t i = 0; i < cells; ++i) {
      bool const same = c.read[i] == read[i] || (settles && i < count && settled(c.read[i], c.bounds));
      REQUIRE(same);
    }
    fine = true;
    for (std::uint32_t i = 0; i < count; ++i) {
      Record const mine = c.item + (i >> log2);
      fine &= !stands_against(written[i], mine, c.bounds) && !(given && stands_against(c.read[i], mine, c.bounds));
    }
    for (std::uint32_t i = 0; fine && i < count; ++i) {
      Record const mine = c.item + (i >> log2);
      written[i] = c.stamp | mine << other_shift | mine;
    }
    REQUIRE(cell_loops().write(c.written.data(), given ? c.read.data() : nullptr, run) == fine);
    REQUIRE(c.written == written);
    (fine ? clean : conflicts) += 1;
  }
  CHECK(conflicts > 1000);
  CHECK(clean > 1000);
}

TEST_CASE("accesses of any two sizes race where they overlap, in either order") {
  std::string const element[] = {"u8", "u16", "u32", "u64", "v2.u64"};
  std::string const value[] = {"%h0", "%h0", "%r1", "%a1", "{%a1, %a2}"};
  int races = 0;
  for (unsigned stored = 0; stored < 5; ++stored)
    for (unsigned loaded = 0; loaded < 5; ++loaded)
      for (unsigned from = 0; from < 48; from += 1u << loaded)
        for (bool store_first : {true, false}) {
          std::string const store = "@!%p0 st.global." + element[stored] + " [%a0+16], " + value[stored] + ";\n";
          std::string const load =
              "@%p0 ld.global." + element[loaded] + " " + value[loaded] + ", [%a0+" + std::to_string(from) + "];\n";
          auto const module = ptx::parse(
              ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 in) {\n"
              ".reg .b16 %h<2>; .reg .b32 %r<4>; .reg .b64 %a<4>; .reg .pred %p<2>;\n"
              "ld.param.u64 %a0, [in]; mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 1;\n" +
                  (store_first ? store + load : load + store) + "ret; }\n",
              "sizes.ptx");
          Program const program(*module, *module->find_kernel("k"));
          Memory memory{std::uint64_t{1} << 24};
          Launch launch;
          launch.block = {2, 1, 1};
          launch.grid = {1, 1, 1};
          std::uint64_t const buffer = memory.add("in", 52);
          launch.parameters.resize(sizeof buffer);
          std::memcpy(launch.parameters.data(), &buffer, sizeof buffer);
          Checks checks({.races = true}, memory);
          checks.begin(program, launch);
          Observer* observers[] = {&checks};
          std::uint64_t const groups[] = {0};
          Outcome const outcome = run(program, launch, memory, groups, observers);
          bool const overlap = from < 16 + (1u << stored) && from + (1u << loaded) > 16;
          CAPTURE(element[stored], element[loaded], from, store_first);
          REQUIRE((outcome.ending == Ending::finding) == overlap);
          if (overlap) REQUIRE(outcome.finding->kind == Finding::Kind::race);
          races += overlap;
        }
  CHECK(races > 0);
}

TEST_CASE("cleared records are of no launch when the clock begins anew") {
  auto const module = ptx::parse(
      ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 in) { ret; }\n", "empty.ptx");
  Program const program(*module, *module->find_kernel("k"));
  Facts const facts(program);
  Order order;
  order.begin_launch(facts, orders_all, 0);
  order.begin_group(3);
  order.rewind();
  Bounds const bounds{at(order.launch_start()), at(order.group_start()), at(order.floor())};
  CHECK_FALSE(stands_against(0, 5, bounds));
  CHECK(order.group_at(order.now()) == 3);
}
