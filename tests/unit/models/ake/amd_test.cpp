// AMD's compute units: turns of the SIMD units, kinds of instructions side by side, waits for loads, branches; and as
// many instructions as the machine code has. Expected times are closed forms of the machine's latencies and gaps.
#include <fstream>
#include <sstream>

#include "base/diag/diag.hpp"
#include "bench.hpp"
#include "catch.hpp"
#include "error_of.hpp"
#include "models/ake/devices.hpp"
#include "models/ake/lower.hpp"
#include "records/table/table.hpp"

using namespace kernelcast;
using namespace kernelcast::model::ake;

namespace {

std::string const devdb = KERNELCAST_SOURCE_DIR "/devdb";

LatencyTable const& table() {
  static std::vector<std::ifstream> files;
  static auto const table = [] {
    files.reserve(3);
    return read_latencies(devdb, [](std::string const& path) { return csv::Reader(files.emplace_back(path), path); });
  }();
  return table;
}

Machine machine(std::string const& name) {
  static auto const database = device::load(devdb);
  auto const resolved = resolve(database.find(name), table());
  INFO(name << ": " << resolved.missing);
  REQUIRE(resolved.missing.empty());
  return resolved.machine;
}

std::vector<std::string> const gcn{"hd7970", "firepro-w9100", "mi100", "mi210", "mi300x"};
std::vector<std::string> const rdna{"rx6900xt", "w6600", "w7800"};
std::vector<std::string> both() {
  auto out = gcn;
  out.insert(out.end(), rdna.begin(), rdna.end());
  return out;
}

double turn(Machine const& m) {
  return static_cast<double>(m.issue_gap) / static_cast<double>(m.cycle);
}
double latency(Machine const& m, Class c) {
  return static_cast<double>(m.of(c).latency) / static_cast<double>(m.cycle);
}
double gap(Machine const& m, Class c) {
  return static_cast<double>(m.of(c).gap) / static_cast<double>(m.cycle);
}

// So many wavefronts on each SIMD unit, all executing these blocks.
Group wavefronts(Machine const& m, Kernel const& k, std::size_t each, std::vector<std::uint32_t> const& blocks,
                 Requests requests = {}) {
  return group_of(k, std::vector<std::vector<std::uint32_t>>(each * m.schedulers, blocks), requests);
}

// The first wavefront of each SIMD unit executes the first blocks, the second one the second.
Group pairs(Machine const& m, Kernel const& k, std::vector<std::uint32_t> const& first,
            std::vector<std::uint32_t> const& second) {
  std::vector<std::vector<std::uint32_t>> warps(m.schedulers, first);
  warps.insert(warps.end(), m.schedulers, second);
  return group_of(k, warps, {});
}

Kernel one_block(std::vector<Instruction> block) {
  Kernel k;
  k.blocks = {std::move(block)};
  return k;
}

constexpr int rounds = 400;
std::vector<std::uint32_t> const many(rounds, 0);

// A constant beginning and end beside the closed form: turns of the other units, the last latency.
void check(double expected, double got, double beside) {
  INFO("expected " << expected << " cycles and up to " << beside << ", got " << got);
  CHECK(got >= expected);
  CHECK(got <= expected + beside);
}

}  // namespace

TEST_CASE("AMD: a chain of dependent vector instructions takes latency after latency") {
  for (auto const& name : both()) {
    auto const m = machine(name);
    INFO(name);
    for (Class const c : {Class::fp32_fma, Class::int_add, Class::scalar}) {
      auto const k = one_block({plain(c, {1}, {1})});
      double const step = std::max({latency(m, c), gap(m, c), turn(m)});
      check(rounds * step, cycles(m, run(m, k, {wavefronts(m, k, 1, many)})), 2 * step + turn(m));
    }
  }
}

TEST_CASE("AMD: wavefronts fill a SIMD unit up to its rate") {
  for (auto const& name : both()) {
    auto const m = machine(name);
    auto const k = one_block({plain(Class::fp32_fma, {1}, {1})});
    for (std::size_t const each : {1u, 2u, 4u, 5u, 8u, 10u}) {
      INFO(name << ", " << each << " wavefronts on a SIMD unit");
      // The oldest go first: as many as a latency has room for run at once, then as many more.
      double const room = latency(m, Class::fp32_fma) / gap(m, Class::fp32_fma);
      double const expected = rounds * latency(m, Class::fp32_fma) * std::ceil(static_cast<double>(each) / room);
      auto const out = run(m, k, {wavefronts(m, k, each, many)});
      check(expected, cycles(m, out), latency(m, Class::fp32_fma) + turn(m) * static_cast<double>(each));
      // All SIMD units issue as many.
      CHECK(out.instructions == rounds * each * m.schedulers);
    }
  }
}

TEST_CASE("AMD: a wavefront of 64 takes four clocks of 16 lanes, one of 32 one") {
  auto const vector = one_block({plain(Class::fp32_fma, {1}, {1})});
  for (auto const& name : gcn) CHECK(gap(machine(name), Class::fp32_fma) == 4);
  for (auto const& name : gcn) CHECK(machine(name).width == 64);
  for (auto const& name : rdna) CHECK(gap(machine(name), Class::fp32_fma) == 1);
  for (auto const& name : rdna) CHECK(machine(name).width == 32);
  for (auto const& name : both()) {
    auto const m = machine(name);
    // As many lanes a clock as the database states, without what only packed or dual instructions reach.
    CHECK(m.width * m.schedulers / gap(m, Class::fp32_fma) == 64);
  }
}

TEST_CASE("AMD: GCN's SIMD units begin one after the other, a clock apart") {
  auto const m = machine("mi210");
  auto const k = one_block({plain(Class::fp32_fma, {1}, {1})});
  std::vector<Ticks> first(m.schedulers, -1);
  Setting setting;
  setting.observe = [&](Issue const& i) {
    if (first[i.warp] < 0) first[i.warp] = i.issue;
    CHECK((i.issue / m.cycle) % 4 == static_cast<Ticks>(i.warp));
  };
  run(m, k, {wavefronts(m, k, 1, {0, 0, 0})}, setting);
  for (std::size_t s = 0; s < first.size(); ++s) CHECK(first[s] == static_cast<Ticks>(s) * m.cycle);
}

TEST_CASE("AMD: instructions of different kinds issue at once, from different wavefronts") {
  for (auto const& name : both()) {
    INFO(name);
    auto const m = machine(name);
    Kernel k;
    k.blocks = {{plain(Class::fp32_fma, {1}, {})}, {plain(Class::scalar, {2}, {})}};
    std::vector<std::uint32_t> const scalar(rounds, 1);
    // A vector and a scalar wavefront take no longer than one alone, two vector ones twice as long.
    check(rounds * turn(m), cycles(m, run(m, k, {pairs(m, k, many, scalar)})), 2 * turn(m) + 8);
    check(2 * rounds * turn(m), cycles(m, run(m, k, {pairs(m, k, many, many)})), 2 * turn(m) + 8);
    // One wavefront alone has a turn for each.
    auto const mixed = one_block({plain(Class::fp32_fma, {1}, {}), plain(Class::scalar, {2}, {})});
    check(2 * rounds * turn(m), cycles(m, run(m, mixed, {wavefronts(m, mixed, 1, many)})), 2 * turn(m) + 8);
  }
}

TEST_CASE("AMD: special functions hold GCN's SIMD unit for four turns, RDNA's have a unit beside") {
  for (auto const& name : both()) {
    INFO(name);
    auto const m = machine(name);
    double const one = gap(m, Class::sfu);
    CHECK(one == 4 * gap(m, Class::fp32_fma));
    Kernel k;
    k.blocks = {{plain(Class::sfu, {1}, {})}, {plain(Class::fp32_fma, {2}, {})}};
    check(rounds * one, cycles(m, run(m, k, {wavefronts(m, k, 1, many)})), one + turn(m) + 20);
    // Beside a wavefront of as many multiply-adds.
    bool const apart = m.of(Class::sfu).unit != m.of(Class::fp32_fma).unit;
    CHECK(apart == (m.width == 32));
    double const expected = rounds * (one + (apart ? 0 : gap(m, Class::fp32_fma)));
    std::vector<std::uint32_t> const fma(rounds, 1);
    check(expected, cycles(m, run(m, k, {pairs(m, k, many, fma)})), 2 * one + 20);
  }
}

TEST_CASE("AMD: the SIMD units share one unit of local memory") {
  for (auto const& name : both()) {
    auto const m = machine(name);
    Instruction load = access(Kind::load, 0, {1}, {});
    load.type = {Class::smem_load, Kind::load, Space::shared};
    auto const k = one_block({load});
    for (std::uint16_t const passes : {1, 2, 8, 32}) {
      Requests r;
      r.shared = passes;
      auto const group = wavefronts(m, k, 2, many, r);
      double const expected = static_cast<double>(rounds) * 2 * m.schedulers * passes * gap(m, Class::smem_load);
      double const issue = rounds * 2 * turn(m);  // a wavefront each turn, of each SIMD unit
      INFO(name << ", " << passes << " passes");
      auto const out = run(m, k, {group});
      check(std::max(expected, issue), cycles(m, out), latency(m, Class::smem_load) + passes + 3 * turn(m));
      if (expected > issue)
        CHECK(out.busy[static_cast<std::size_t>(Unit::shared)] > 0.9 * static_cast<double>(out.end));
    }
  }
}

TEST_CASE("AMD: an instruction waits for loads, which complete in their order") {
  for (auto const& name : {"mi210", "rx6900xt"}) {
    INFO(name);
    auto const m = machine(name);
    Kernel k =
        one_block({access(Kind::load, 0, {1}, {}), access(Kind::load, 1, {2}, {}), plain(Class::fp32_fma, {3}, {2})});
    Group g = group_of(k, {{0}}, {});
    g.requests[0].dram = 1;
    g.requests[1].l1 = 1;
    std::vector<Issue> issues;
    Setting setting;
    setting.observe = [&](Issue const& i) { issues.push_back(i); };
    auto const out = run(m, k, {g}, setting);
    REQUIRE(issues.size() == 4);  // two loads, the wait, the multiply-add
    CHECK(out.instructions == 4);
    CHECK(issues[1].done == issues[0].done);  // the first level has it long before
    CHECK(issues[0].done == m.of(Class::gmem_load_dram).latency);
    CHECK(issues[2].issue >= issues[1].done);
    CHECK(issues[2].issue < issues[1].done + m.issue_gap);
    CHECK(issues[3].issue == issues[2].issue + m.issuing.wavefront_turn);
    // One wait for both, where the first use is of the later one.
    k.blocks[0].push_back(plain(Class::fp32_fma, {4}, {1}));
    CHECK(run(m, k, {g}).instructions == 5);
    // Where it is of the earlier one, another for the later.
    std::swap(k.blocks[0][2].sources, k.blocks[0][3].sources);
    CHECK(run(m, k, {g}).instructions == 6);
  }
}

TEST_CASE("AMD: a branch that is taken holds its wavefront") {
  for (auto const& name : both()) {
    INFO(name);
    auto const m = machine(name);
    Kernel k;
    k.blocks = {{plain(Class::fp32_fma, {1}, {}), plain(Class::control, {}, {})}, {plain(Class::fp32_fma, {2}, {})}};
    // Back to the same block, and on to the next one.
    double const branch = latency(m, Class::control);
    check(rounds * (turn(m) + branch) - branch, cycles(m, run(m, k, {wavefronts(m, k, 1, many)})), branch);
    std::vector<std::uint32_t> through;
    for (int n = 0; n < rounds; ++n) through.insert(through.end(), {0u, 1u});
    double const not_taken = cycles(m, run(m, k, {wavefronts(m, k, 1, {0, 1})}));
    CHECK(not_taken <= 2 * turn(m) + 3 + turn(m) + latency(m, Class::fp32_fma));
  }
}

TEST_CASE("AMD: every GPU whose target has a rule becomes a machine") {
  auto const database = device::load(devdb);
  std::size_t known = 0;
  for (auto const& device : database.devices()) {
    if (device.vendor != "AMD" || device.kind != "gpu" || !device.target.starts_with("gfx")) continue;
    auto const resolved = resolve(device, table());
    INFO(device.device << ": " << resolved.missing);
    CHECK(resolved.missing.empty());
    CHECK(resolved.machine.issuing.by_kind);
    ++known;
  }
  CHECK(known >= 16);
  CHECK(!machine("v100").issuing.by_kind);
  CHECK(machine("v100").issuing.wavefront_turn == 0);
}

TEST_CASE("AMD: names in issue.csv are checked") {
  auto const read = [](std::string const& row) {
    std::istringstream in("target,kinds,staggered,wavefront_turn_cycles,waits,order,apart,source,assumed\n" + row +
                          "\n");
    csv::Reader reader(in, "issue.csv");
    LatencyTable out;
    read_issuing(reader, out);
    return out.issuing.size();
  };
  CHECK(read("gfx600,vector;scalar,yes,4,yes,oldest,sfu,a source,") == 1);
  for (auto const& [row, column] : {std::pair{"gfx600,other,yes,4,yes,oldest,,s,", "'kinds'"},
                                    {"gfx600,vector,maybe,4,yes,oldest,,s,", "'staggered'"},
                                    {"gfx600,vector,yes,4,1,oldest,,s,", "'waits'"},
                                    {"gfx600,vector,yes,4,yes,newest,,s,", "'order'"},
                                    {"gfx600,vector,yes,4,yes,oldest,sfuu,s,", "'apart'"}}) {
    INFO(row);
    CHECK_THAT(error_of([&] { read(row); }).text("akemu"),
               Contains("issue.csv:2:") && Contains(column) && Contains("hint: "));
  }
}

TEST_CASE("as many instructions as the machine code has") {
  record::Kernel row;
  using enum record::InstructionClass;
  row.issues[fp32][2] = 1000;
  row.issues[int_add][2] = 2000;
  row.issues[int_mul][2] = 400;
  row.issues[special][2] = 100;
  row.slots[record::Pipe::fp32] = 1500;
  row.slots[record::Pipe::alu] = 500;
  row.slots[record::Pipe::special] = 100;
  row.slots[record::Pipe::imad] = 0;
  row.slots[record::Pipe::scalar] = 1200;
  auto const ratios = slot_ratios(row, 64);
  CHECK(ratios.floating == 1.5);
  CHECK(ratios.other == 0.25);
  CHECK(ratios.product == 0);
  CHECK(ratios.scalar == 0.5);
  CHECK(ratios.fp64 == 1);  // of none

  // Two blocks, one of which runs a hundred times as often; each by itself has no whole number.
  Kernel k;
  k.blocks = {{plain(Class::int_add, {1}, {}), plain(Class::fp32_fma, {2}, {1})},
              {plain(Class::int_add, {3}, {3}), plain(Class::int_add, {4}, {3}), plain(Class::fp32_fma, {5}, {4}),
               plain(Class::fp32_fma, {6}, {5}), plain(Class::fp32_fma, {7}, {6}), plain(Class::int_mul, {8}, {3})}};
  std::vector<std::uint32_t> rows{0};
  rows.insert(rows.end(), 100, 1);
  auto const lowered = lower(k, {group_of(k, {rows}, {})}, ratios);
  auto const executed = [&](Class c, std::vector<Instruction> const& block) {
    double n = 0;
    for (auto const& i : block) n += i.type.instruction_class == c && !i.folded;
    return n;
  };
  auto const runs = [&](Class c) { return executed(c, lowered.blocks[0]) + 100 * executed(c, lowered.blocks[1]); };
  // Within half an instruction of the block that runs most often, less what the other one could take.
  CHECK(std::abs(runs(Class::fp32_fma) - 1.5 * 301) <= 51);
  CHECK(std::abs(runs(Class::int_add) - 0.25 * 201) <= 51);
  CHECK(runs(Class::int_mul) == 0);
  CHECK(std::abs(runs(Class::scalar) - 0.5 * 301) <= 51);

  // An instruction that is left out takes no time and passes its operands on.
  auto const m = machine("mi210");
  Kernel chain =
      one_block({plain(Class::fp32_fma, {1}, {1}), plain(Class::int_add, {2}, {1}), plain(Class::fp32_fma, {1}, {2})});
  double const with = cycles(m, run(m, chain, {wavefronts(m, chain, 1, many)}));
  chain.blocks[0][1].folded = true;
  auto const out = run(m, chain, {wavefronts(m, chain, 1, many)});
  check(rounds * 2 * latency(m, Class::fp32_fma), cycles(m, out), 2 * turn(m));
  CHECK(with >= rounds * 3 * latency(m, Class::fp32_fma));
  CHECK(out.instructions == 2 * rounds * m.schedulers);
}
