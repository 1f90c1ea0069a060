// Accesses against the emulator's own counting, caches against closed forms, schedules, machines, calibration.
#include <fstream>
#include <random>

#include "bench.hpp"
#include "catch.hpp"
#include "emulator/observe/transactions.hpp"
#include "models/ake/access.hpp"
#include "models/ake/cache.hpp"
#include "models/ake/calibrate.hpp"
#include "models/ake/memory.hpp"
#include "models/ake/projection.hpp"
#include "models/ake/schedule.hpp"
#include "records/table/table.hpp"

using namespace kernelcast;
using namespace kernelcast::model::ake;

namespace {

template <class R>
std::vector<R> rows_of(std::string const& path) {
  std::ifstream in(path);
  REQUIRE(in);
  return record::read_rows<R>(in, path);
}

std::string const devdb = KERNELCAST_SOURCE_DIR "/devdb";
LatencyTable table() {
  return {rows_of<record::LatencyGap>(devdb + "/latgap.csv"),
          rows_of<record::LatencyFallback>(devdb + "/latgap_fallbacks.csv")};
}

// A random access of 32 lanes, affine or not.
struct RandomAccess {
  Part part;
  std::vector<std::uint64_t> list;
  std::array<std::uint32_t, 64> offsets{};
  unsigned bytes = 4;

  explicit RandomAccess(std::mt19937& random) {
    bytes = 1u << random() % 5;
    part.mask = random() % 3 ? 0xffffffffu : random() | 1u;
    part.first = 4096 + random() % 64 * bytes;
    part.listed = random() % 2;
    part.stride = static_cast<std::int32_t>(random() % 40 * bytes);
    auto const lowest = static_cast<unsigned>(std::countr_zero(part.mask));
    for (unsigned l = 0; l < 32; ++l) {
      offsets[l] =
          part.listed ? static_cast<std::uint32_t>(4096 + random() % 256 * bytes)
                      : static_cast<std::uint32_t>(part.first + static_cast<std::uint64_t>(part.stride) * (l - lowest));
      if (part.listed && (part.mask >> l & 1)) list.push_back(offsets[l]);
    }
  }
  emu::WaveAccess wave() const { return {part.mask, 0, offsets.data(), bytes}; }
};

}  // namespace

TEST_CASE("accesses count as the emulator counts them") {
  std::mt19937 random(3);
  Machine later = plain_machine(4, 1, 1), kepler = later, first = later, fermi = later;
  kepler.bank_bytes = 8;
  first.banks = 16;
  first.rule = AccessRule::cc1x_segments;
  fermi.rule = AccessRule::lines128;
  AccessRules of_later(later), of_kepler(kepler), of_first(first), of_fermi(fermi);
  for (int round = 0; round < 4000; ++round) {
    RandomAccess const a(random);
    INFO("round " << round << ", bytes " << a.bytes << ", mask " << std::hex << a.part.mask);
    auto const global = emu::count_global(a.wave());
    auto const shared = emu::count_shared(a.wave());
    auto sectors = [&](AccessRules& rules, bool load) {
      return rules.sectors(a.part, a.list.data(), a.bytes, load, rules.touches(a.part, a.list.data(), a.bytes, 0));
    };
    CHECK(sectors(of_later, true) == global.tx[1][0]);
    CHECK(of_later.touches(a.part, a.list.data(), a.bytes, 0).size() == global.tx[1][2]);
    CHECK(sectors(of_fermi, true) == 4u * global.tx[1][2]);
    CHECK(sectors(of_fermi, false) == global.tx[1][0]);
    CHECK(sectors(of_first, true) == global.cc13[0] + 2u * global.cc13[1] + 4u * global.cc13[2]);
    CHECK(of_later.passes(a.part, a.list.data(), a.bytes, false) == shared.passes[1][1]);
    CHECK(of_kepler.passes(a.part, a.list.data(), a.bytes, false) == shared.passes[1][2]);
    CHECK(of_first.passes(a.part, a.list.data(), a.bytes, false) == shared.passes[1][0]);
    CHECK(AccessRules::max_on_one_address(a.part, a.list.data()) == emu::max_lanes_on_one_address(a.wave()));
  }
}

TEST_CASE("a cache holds what fits, forgets the oldest, and knows its sectors") {
  Cache cache(4 * line_bytes, 4);  // one set
  for (std::uint64_t line = 0; line < 4; ++line) CHECK(cache.read(line, 0x1) == 0);
  for (std::uint64_t line = 0; line < 4; ++line) CHECK(cache.read(line, 0x3) == 0x1);
  CHECK(cache.read(9, 0xf) == 0);  // in the place of line 0
  CHECK(cache.read(1, 0x3) == 0x3);
  CHECK(cache.read(0, 0x1) == 0);
  CHECK(cache.write(1, 0x4) == 0);
  CHECK(cache.write(1, 0xc) == 0x4);
  Cache nothing(0, 16);
  CHECK(nothing.read(1, 1) == 0);
  CHECK(nothing.read(1, 1) == 0);
}

TEST_CASE("list scheduling keeps dependences and hides latency") {
  Machine const m = plain_machine(1, 20, 1);
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    Kernel k;
    k.blocks.resize(1);
    std::int32_t items = 0;
    for (unsigned n = 1 + random() % 30; n-- > 0;) {
      auto const reg = [&] { return static_cast<std::uint32_t>(random() % 8); };
      unsigned const what = random() % 8;
      k.blocks[0].push_back(what < 5    ? plain(Class::fp32_add, {reg()}, {reg(), reg()})
                            : what == 5 ? access(Kind::load, items++, {reg()}, {reg()})
                            : what == 6 ? access(Kind::store, items++, {}, {reg(), reg()})
                                        : barrier());
    }
    k.blocks[0].push_back(leave());
    auto const& block = k.blocks[0];
    auto const order = list_order(block, m, std::vector<bool>(block.size(), false), round % 2 ? 4 : 0);
    REQUIRE(order.size() == block.size());
    std::vector<std::size_t> at(block.size());
    for (std::size_t n = 0; n < order.size(); ++n) at[order[n]] = n;
    auto const shares = [](auto const& a, auto const& b) {
      return std::any_of(a.begin(), a.end(), [&](auto r) { return std::find(b.begin(), b.end(), r) != b.end(); });
    };
    INFO("round " << round);
    CHECK(at.back() == block.size() - 1);  // the branch
    for (std::size_t i = 0; i < block.size(); ++i)
      for (std::size_t j = i + 1; j < block.size(); ++j) {
        bool const depends = shares(block[i].destinations, block[j].sources) ||
                             shares(block[i].sources, block[j].destinations) ||
                             shares(block[i].destinations, block[j].destinations);
        bool const access_i = block[i].item >= 0, access_j = block[j].item >= 0;
        bool const writes = block[i].type.kind == Kind::store || block[j].type.kind == Kind::store;
        bool const fence = block[i].type.kind == Kind::barrier || block[j].type.kind == Kind::barrier;
        bool const both =
            (access_i || block[i].type.kind == Kind::barrier) && (access_j || block[j].type.kind == Kind::barrier);
        if (depends || (both && (writes || fence))) CHECK(at[i] < at[j]);
      }
  }
  // Eight loads, each used at once: in program order one warp waits eight times, list-scheduled once.
  Kernel k;
  k.blocks.resize(1);
  for (std::uint32_t n = 0; n < 8; ++n) {
    k.blocks[0].push_back(access(Kind::load, static_cast<std::int32_t>(n), {n}, {}));
    k.blocks[0].push_back(plain(Class::fp32_add, {20 + n}, {n}));
  }
  Requests one;
  one.l1 = 1;
  std::vector<Group> const groups{group_of(k, {{0}}, one)};
  CHECK(cycles(m, run(m, k, groups)) == 8 * (20 + 1) - 1 + 20);
  CHECK(cycles(m, run(m, k, groups, {}, Order::list)) == 20 + 8 - 1 + 20);
}

TEST_CASE("every GPU with latencies becomes a machine, and says what it assumes") {
  auto const database = device::load(devdb);
  auto const latencies = table();
  std::size_t known = 0;
  for (auto const& device : database.devices()) {
    auto const resolved = resolve(device, latencies);
    if (device.kind == "gpu" && device.vendor == "NVIDIA") {
      INFO(device.device << ": " << resolved.missing);
      CHECK(resolved.missing.empty());
    }
    if (!resolved.missing.empty()) continue;
    ++known;
    CHECK(resolved.machine.cycle % 960 == 0);
    CHECK(resolved.machine.of(Class::fp32_fma).latency > 0);
    CHECK(resolved.machine.of(Class::gmem_load_dram).gap > 0);
  }
  CHECK(known >= 20);
  auto const v100 = resolve(database.find("v100"), latencies);
  auto const& m = v100.machine;
  CHECK(m.of(Class::fp32_fma).latency == 4 * m.cycle);
  CHECK(m.of(Class::fp32_fma).gap == 2 * m.cycle);
  CHECK(m.of(Class::fp32_fma).per_scheduler);
  CHECK(m.schedulers == 4);
  // Exact gaps: a sixth of a cycle on Kepler.
  auto const k20 = resolve(database.find("k20"), latencies);
  CHECK(k20.machine.of(Class::fp32_fma).gap * 6 == k20.machine.cycle);
  CHECK(k20.machine.of(Class::int_add).gap * 5 == k20.machine.cycle);
  // sm_60 is not sm_61: its row is the nearest, and that is said.
  auto const p100 = resolve(database.find("p100"), latencies);
  CHECK(std::any_of(p100.assumptions.begin(), p100.assumptions.end(), [](Assumption const& a) {
    return a.instruction_class == Class::fp32_fma && a.words.find("sm_61") != std::string::npos;
  }));
}

TEST_CASE("all units together get no more of the second level than the device gives, one unit what its port gives") {
  auto database = device::load(devdb);
  auto const latencies = table();
  for (auto const& known : database.devices()) {
    if (known.vendor != "NVIDIA" || known.kind != "gpu") continue;
    auto const resolved = resolve(known, latencies);
    auto const& m = resolved.machine;
    auto const bytes_per_s = [&](double units) {
      return units * sector_bytes * m.clock_hz * static_cast<double>(m.cycle) / static_cast<double>(m.l2_gap(units));
    };
    INFO(known.device << ": " << bytes_per_s(m.units) << " B/s");
    if (known.l2_bandwidth_bytes_per_s) CHECK(bytes_per_s(m.units) <= 1.01 * *known.l2_bandwidth_bytes_per_s);
    if (m.l2_port_gap == 0) {
      CHECK(m.l2_gap(1) == m.l2_gap(m.units));
      continue;
    }
    CHECK(bytes_per_s(1) <= 64 * m.clock_hz);
    CHECK(bytes_per_s(1) >= bytes_per_s(m.units) / m.units);
    // As many as share it take what there is, until their ports are the limit.
    if (m.l2_gap(m.units / 2.0) > m.l2_port_gap)
      CHECK(bytes_per_s(m.units / 2.0) == Approx(bytes_per_s(m.units)).epsilon(0.01));
  }
  // A table that states more than the device gives: 12 channels of 120 bytes a clock.
  auto device = database.find("rtx4090");
  auto fast = latencies;
  std::erase_if(fast.fallbacks, [](auto const& f) { return f.class_name == "gmem_load_l2" && f.quantity == "gap"; });
  fast.fallbacks.push_back({"gmem_load_l2", "gap", "", "cycles", 1, 100, ""});
  auto const m = resolve(device, fast).machine;
  CHECK(4.0 * static_cast<double>(m.of(Class::gmem_load_l2).gap) / static_cast<double>(m.cycle) ==
        Approx(128.0 * 128 / (120 * 12)).epsilon(0.01));
}

TEST_CASE("global atomics: updates of the busiest address, sectors") {
  // Two groups of one wavefront of 1000; each updates one word of its own and, with four lanes, one of all.
  Kernel const kernel{"k", {{access(Kind::atomic, 0, {}, {}), access(Kind::atomic, 1, {}, {}), leave()}}};
  Launch launch;
  launch.kernel = &kernel;
  launch.head.groups_total = 1000;
  launch.head.block = 32;
  auto const part = [](std::uint64_t mask, std::uint64_t first, std::int32_t stride, std::uint32_t item) {
    Part p;
    p.mask = mask, p.first = first, p.stride = stride, p.item = item;
    return p;
  };
  for (std::uint64_t g = 0; g < 2; ++g) {
    TracedWarp warp;
    warp.rows = {{0, 0}};
    warp.parts = {part(0xffffffff, 8192 + 128 * g, 4, 0), part(0xf, 4096, 0, 1)};
    launch.groups.push_back({g * 500, {warp}, {}});
  }
  auto const m = resolve(device::load(devdb).find("a100"), table()).machine;
  for (auto const kind : {MemoryMode::Kind::simulated, MemoryMode::Kind::none}) {
    MemoryMode mode;
    mode.kind = kind;
    mode.warm = kind == MemoryMode::Kind::simulated;
    auto const both = prepare(launch, m, mode, 2, 108);
    CHECK(both.atomic_same_address == 4 * 1000);
    CHECK(both.atomic_sectors == (4 + 1) * 1000);
  }
  // Without the common word, each address has one group.
  for (auto& g : launch.groups) g.warps[0].parts.pop_back();
  auto const own = prepare(launch, m, {}, 2, 108);
  CHECK(own.atomic_same_address == 1);
  CHECK(own.atomic_sectors == 4 * 1000);
}

TEST_CASE("registers are those that perfcast takes") {
  auto const database = device::load(devdb);
  record::Trace launch;
  launch.block = 64;
  launch.registers_ptx = 91;
  CHECK(fit(launch, database.find("hd5870")).registers == 23);  // four to one
  CHECK(fit(launch, database.find("hd5870")).note == "gprs_cypress not known, registers_ptx taken");
  launch.vgprs_gfx6 = 32;
  launch.vgprs_gfx90a = 33;
  CHECK(fit(launch, database.find("mi100")).registers == 33);  // gfx908
  CHECK(fit(launch, database.find("rx480")).registers == 32);  // gfx803
  CHECK(fit(launch, database.find("rx480")).note.empty());
}

TEST_CASE("measurements become rows that the emulator takes before all others") {
  auto const database = device::load(devdb);
  auto const& k20 = database.find("k20");
  auto const measured = [&](std::string metric, std::string item_class, double value) {
    record::Measurement m;
    m.device = "k20";
    m.backend = "cuda";
    m.metric = std::move(metric);
    m.item_class = std::move(item_class);
    m.value = value;
    m.status = record::RowStatus::ok;
    return m;
  };
  std::vector<record::Measurement> rows{
      measured("latency_cycles", "fp32_fma", 9.02), measured("gap_cycles", "fp32_fma", 0.25),
      measured("shared_latency_cycles", "", 27), measured("latency_cycles", "fp64_fma", 11)};
  rows.push_back(measured("load_latency_cycles", "", 230));
  rows.back().working_set_bytes = 400e3;
  rows.push_back(measured("load_latency_cycles", "", 501));
  rows.back().working_set_bytes = 64e6;
  rows.push_back(measured("global_bandwidth_bytes_per_s", "", 120e9));
  rows.back().access = "coalesced";
  rows.back().direction = "read";
  rows.back().word_bytes = 4;
  rows.push_back(measured("latency_cycles", "sfu", 99));
  rows.back().status = record::RowStatus::doubtful;
  LatencyTable calibrated = table();
  auto const own = calibrate(rows, k20);
  calibrated.rows.insert(calibrated.rows.begin(), own.begin(), own.end());
  auto const m = resolve(k20, calibrated).machine;
  auto const cycles_of = [&](Ticks t) { return static_cast<double>(t) / static_cast<double>(m.cycle); };
  CHECK(cycles_of(m.of(Class::fp32_fma).latency) == Approx(9.02).epsilon(1e-4));
  CHECK(cycles_of(m.of(Class::fp32_fma).gap) == 0.25);
  CHECK(cycles_of(m.of(Class::smem_load).latency) == 27);
  CHECK(cycles_of(m.of(Class::fp64).latency) == 11);
  CHECK(cycles_of(m.of(Class::sfu).latency) == 18);  // as before: what is doubtful does not count
  CHECK(cycles_of(m.of(Class::gmem_load_l2).latency) == 230);
  CHECK(cycles_of(m.of(Class::gmem_load_dram).latency) == 501);
  double const line = 128 * *k20.clock_hz * static_cast<double>(*k20.compute_units) / 120e9;
  CHECK(cycles_of(m.of(Class::gmem_load_dram).gap) * 4 == Approx(line).epsilon(1e-3));
}
